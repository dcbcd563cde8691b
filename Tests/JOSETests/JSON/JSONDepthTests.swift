import Foundation
import JOSE
import TestKit
import Testing

/// Deep input must end as a refusal, on the small stacks of worker threads too.
@Suite struct JSONDepthTests {
    /// What reading `text` gives on a thread with a stack of 128 KiB, a quarter of a worker thread's. A sanitizer's frames are
    /// several times as large, and the thread one keeps its own state on the stack: there the worker thread's size.
    private static func readOnSmallStack(
        _ text: [UInt8], depth: Int = 16
    ) async -> JSONError.Reason? {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: reason(text, depth)) }
            thread.stackSize = (Sanitizer.isPresent ? 512 : 128) * 1024
            thread.start()
        }
    }

    private static func reason(_ text: [UInt8], _ depth: Int) -> JSONError.Reason? {
        do {
            _ = try JSONValue(parsing: text, maximumDepth: depth)
            return nil
        } catch { return error.reason }
    }

    private static func nested(_ open: String, _ close: String, _ count: Int) -> [UInt8] {
        Array(
            (String(repeating: open, count: count) + "1" + String(repeating: close, count: count))
                .utf8)
    }

    @Test(arguments: [
        ("[", "]", 8000), ("{\"a\":", "}", 150), ("{\"a\":", "}", 300), ("{\"a\":", "}", 511),
        ("[{\"a\":", "}]", 1000),
    ])
    func `deep nesting is refused`(open: String, close: String, count: Int) async {
        #expect(await Self.readOnSmallStack(Self.nested(open, close, count)) == .tooDeep)
    }

    @Test func `16 KB of opening brackets are refused`() async {
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 16_384)
        #expect(await Self.readOnSmallStack(brackets) == .tooDeep)
    }

    @Test func `the value of a member nobody asks for is bounded as well`() async {
        let text =
            Array(#"{"client_id":"c","unknown":"#.utf8) + Self.nested("[", "]", 300)
            + Array("}".utf8)
        #expect(await Self.readOnSmallStack(text) == .tooDeep)
    }

    @Test(arguments: [1, 8, 16, 32])
    func `exactly the allowed depth is read, one more is refused`(depth: Int) async {
        #expect(await Self.readOnSmallStack(Self.nested("[", "]", depth), depth: depth) == nil)
        #expect(
            await Self.readOnSmallStack(Self.nested("[", "]", depth + 1), depth: depth) == .tooDeep)
    }

    @Test func `objects side by side are not deep`() async {
        let text = "[" + (0..<500).map { _ in "{\"a\":[1]}" }.joined(separator: ",") + "]"
        #expect(await Self.readOnSmallStack(Array(text.utf8), depth: 3) == nil)
    }

    @Test func `a token with deep claims or a deep header is refused`() throws {
        let deep = Base64URL.encode(Self.nested("{\"a\":", "}", 300))
        let header = Base64URL.encode(Array(#"{"alg":"ES256"}"#.utf8))
        let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))
        let token = try CompactJWS(parsing: "\(header).\(deep).\(signature)".utf8)
        #expect(throws: JWSError.self) { try token.claims() }
        #expect(throws: JWSError.self) {
            try CompactJWS(parsing: "\(deep).\(deep).\(signature)".utf8)
        }
    }
}
