// swift-format-ignore-file
// Declarations as Apple writes them.
public import Foundation
public import LocalAuthentication
public import Security

@preconcurrency
public protocol Digest: ContiguousBytes, CustomStringConvertible, Hashable,
    Sendable, Sequence
where Element == UInt8 {
    static var byteCount: Int { get }
}

public struct SHA256Digest: Digest {
    public static var byteCount: Int { 32 }
    public var description: String { "" }
    public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        fatalError("a stub")
    }
}

public struct SHA256: Sendable {
    public init() {}
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError("a stub") }
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { fatalError("a stub") }
}

public enum P256: Sendable {
    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            public var rawRepresentation: Data { fatalError("a stub") }
        }

        public struct ECDSASignature: Sendable {
            public var rawRepresentation: Data { fatalError("a stub") }
        }
    }
}

public enum SecureEnclave: Sendable {
    public static var isAvailable: Bool { false }

    public enum P256: Sendable {
        public enum Signing: Sendable {
            public struct PrivateKey: Sendable {
                public init(
                    compactRepresentable: Bool = true,
                    accessControl: SecAccessControl = SecAccessControlCreateWithFlags(
                        nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, [], nil)!,
                    authenticationContext: LAContext? = nil
                ) throws { fatalError("a stub") }

                public init(
                    dataRepresentation: Data, authenticationContext: LAContext? = nil
                ) throws { fatalError("a stub") }

                public var publicKey: CryptoKit.P256.Signing.PublicKey { fatalError("a stub") }
                public var dataRepresentation: Data { fatalError("a stub") }

                public func signature<D: Digest>(
                    for digest: D
                ) throws -> CryptoKit.P256.Signing.ECDSASignature { fatalError("a stub") }

                public func signature<D: DataProtocol>(
                    for data: D
                ) throws -> CryptoKit.P256.Signing.ECDSASignature { fatalError("a stub") }
            }
        }
    }
}
