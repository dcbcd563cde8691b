// swift-format-ignore-file
// Declarations as Apple writes them.
@_exported import CoreFoundation

open class SecAccessControl {}
open class SecRandom {}
public typealias SecRandomRef = SecRandom

// Immutable in Apple's SDK as well, where they are imported as constants.
nonisolated(unsafe) public let kSecClass: CFString = CFString()
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = CFString()
nonisolated(unsafe) public let kSecAttrService: CFString = CFString()
nonisolated(unsafe) public let kSecAttrAccount: CFString = CFString()
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = CFString()
nonisolated(unsafe) public let kSecAttrAccessible: CFString = CFString()
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString =
    CFString()
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = CFString()
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = CFString()
nonisolated(unsafe) public let kSecReturnData: CFString = CFString()
nonisolated(unsafe) public let kSecReturnAttributes: CFString = CFString()
nonisolated(unsafe) public let kSecMatchLimit: CFString = CFString()
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = CFString()
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = CFString()
nonisolated(unsafe) public let kSecValueData: CFString = CFString()
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecDecode: OSStatus { -26275 }

public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError("a stub") }

public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError("a stub") }

public func SecItemUpdate(
    _ query: CFDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus { fatalError("a stub") }

public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError("a stub") }

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFOptionFlags
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    public static var privateKeyUsage: SecAccessControlCreateFlags { .init(rawValue: 1 << 30) }
}

public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { fatalError("a stub") }

public func SecRandomCopyBytes(
    _ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer
) -> Int32 { fatalError("a stub") }
