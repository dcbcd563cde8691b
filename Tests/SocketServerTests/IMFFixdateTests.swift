import Testing

@testable import SocketServer

@Suite struct IMFFixdateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),  // RFC 9110 §5.6.7
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
    ])
    func `writes the date of RFC 9110`(seconds: Int, text: String) {
        #expect(IMFFixdate.text(secondsSince1970: seconds) == text)
    }

    @Test func `agrees with Python's email.utils over a century`() async throws {
        var random = SeededRandom(seed: 7)
        let times = (0..<500).map { _ in Int.random(in: 0...4_200_000_000, using: &random) }
        let judge = try await Command.run(
            "python3",
            [
                "-c",
                "import sys, email.utils\nfor t in sys.stdin: print(email.utils.formatdate(int(t), usegmt=True))",
            ], input: times.map { "\($0)\n" }.joined())
        let ours = times.map { IMFFixdate.text(secondsSince1970: $0) }
        #expect(ours == judge.output.split(separator: "\n").map(String.init))
    }
}
