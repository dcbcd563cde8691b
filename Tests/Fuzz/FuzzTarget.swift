import Glibc

/// One thing that is fed with bytes from a stranger.
protocol FuzzTarget {
    /// Must return for every input. A trap, a sanitizer's report or a promise that does not hold is a finding.
    static func run(_ bytes: [UInt8])
}

let targets: [String: any FuzzTarget.Type] = [
    "http": HTTPTarget.self,
    "forwarded": ForwardedTarget.self,
    "dpop": DPoPTarget.self,
    "assertion": AssertionTarget.self,
    "jwk": JWKTarget.self,
    "mint": MintTarget.self,
    "json5": JSON5Target.self,
    "uri": URITarget.self,
]

/// All targets are in one program; `FUZZ_TARGET` says which one runs.
private let chosen: any FuzzTarget.Type = {
    guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }), let target = targets[name]
    else {
        complain("FUZZ_TARGET must be one of: \(targets.keys.sorted().joined(separator: " "))")
        exit(2)
    }
    return target
}()

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// Ends the run as a finding when a promise does not hold.
func promise(_ holds: Bool, _ what: @autoclosure () -> String, line: UInt = #line) {
    guard !holds else { return }
    complain("FINDING (line \(line)): \(what())")
    abort()
}

private func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
