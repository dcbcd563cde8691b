// swift-format-ignore-file
// Declarations as Apple writes them.
@_exported import Glibc

public typealias rsize_t = Int
public typealias errno_t = Int32

@discardableResult
public func memset_s(
    _ s: UnsafeMutableRawPointer?, _ smax: rsize_t, _ c: Int32, _ n: rsize_t
) -> errno_t { fatalError("a stub") }
