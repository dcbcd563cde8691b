import JOSE
import Synchronization

/// Bytes that can be read once (R-000-66).
public final class OneTimeSecret: Sendable, Equatable, CustomStringConvertible {
    private let bytes: Mutex<[UInt8]?>

    /// Takes over the bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = Mutex(bytes)
    }

    deinit {
        bytes.withLock { held in
            if var taken = held.take() { wipe(&taken) }
        }
    }

    /// The bytes at the first call, `nil` ever after.
    public func takeBytes() -> [UInt8]? {
        bytes.withLock { $0.take() }
    }

    /// Never the bytes.
    public var description: String { "<secret>" }

    /// The same object; two secrets are never compared by content.
    public static func == (left: OneTimeSecret, right: OneTimeSecret) -> Bool { left === right }
}
