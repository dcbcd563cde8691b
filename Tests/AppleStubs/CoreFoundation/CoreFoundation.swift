// swift-format-ignore-file
// Declarations as Apple writes them.
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32
public typealias CFOptionFlags = UInt

open class CFAllocator {}
open class CFError {}
open class CFDictionary {}
open class CFBoolean {}

open class CFString: Hashable {
    public static func == (left: CFString, right: CFString) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    public init() {}
}

// What Objective-C's bridging makes possible on Apple platforms: `as CFDictionary`, `as String`.
extension Dictionary: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> CFDictionary { fatalError("a stub") }
    public static func _forceBridgeFromObjectiveC(
        _ source: CFDictionary, result: inout [Key: Value]?
    ) {}
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: CFDictionary, result: inout [Key: Value]?
    ) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: CFDictionary?
    ) -> [Key: Value] { [:] }
}

extension String: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> CFString { fatalError("a stub") }
    public static func _forceBridgeFromObjectiveC(_ source: CFString, result: inout String?) {}
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: CFString, result: inout String?
    ) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: CFString?) -> String { "" }
}
