// swift-format-ignore-file
// Declarations as Apple writes them.
open class LAContext {
    public init() {}
}
