import Testing

@testable import SocketServer

@Suite struct ResponseEncoderTests {
    func lines(_ response: HTTPResponse, isHead: Bool = false) -> [String] {
        var octets: [UInt8] = []
        ResponseEncoder.append(
            response, ResponseEncoder.Context(isHead: isHead), date: Array("Date: x\r\n".utf8),
            to: &octets)
        return String(decoding: octets, as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// RFC 9110 §8.6: a length in a 204 is forbidden, and in a 304 it would be that of another answer.
    @Test(arguments: [204, 304], [false, true])
    func `an answer that never has content tells no length of it`(status: Int, isHead: Bool) {
        let lines = lines(HTTPResponse(status: status, body: Array("x".utf8)), isHead: isHead)
        #expect(!lines.contains { $0.lowercased().hasPrefix("content-length") })
        #expect(lines.suffix(2) == ["", ""])
    }

    @Test(arguments: [200, 404, 500], [false, true])
    func `any other answer tells its length, also to HEAD, which gets no content`(
        status: Int, isHead: Bool
    ) {
        let lines = lines(HTTPResponse(status: status, body: Array("content".utf8)), isHead: isHead)
        #expect(lines.contains("Content-Length: 7"))
        #expect(lines.suffix(2) == ["", isHead ? "" : "content"])
    }
}
