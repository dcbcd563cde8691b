import Synchronization

/// One picture of the capture surface. Its bytes are wiped when the verdict is known (R-100-67).
public final class FaceFrame: Sendable, CustomStringConvertible {
    private let pixels: Mutex<[UInt8]>

    /// Takes over the bytes, in whatever form the engine reads.
    public init(_ bytes: [UInt8]) {
        pixels = Mutex(bytes)
    }

    /// Lends the bytes; empty after the frame was wiped.
    public func withBytes<Result>(_ body: (borrowing [UInt8]) throws -> Result) rethrows -> Result {
        try pixels.withLock { try body($0) }
    }

    /// Never the picture.
    public var description: String { "<frame>" }

    func wipe() {
        pixels.withLock { bytes in
            bytes.withUnsafeMutableBytes { buffer in
                for index in buffer.indices { buffer[index] = 0 }
            }
            bytes = []
        }
    }
}

extension FaceFrame: Equatable {
    /// The same frame; pictures are never compared.
    public static func == (left: FaceFrame, right: FaceFrame) -> Bool { left === right }
}
