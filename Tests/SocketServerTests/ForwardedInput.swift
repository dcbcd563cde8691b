import Testing

@testable import SocketServer

/// What a proxy at 10.0.0.1 sends, with 10.0.0.0/8 and 2001:db8:a::/48 trusted, and what is made of it.
struct ForwardedInput: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// The request is the client's, all hops being https.
        case secure(String)
        /// The request is the client's, and nothing was said of TLS.
        case silent(String)
        /// 400: nobody can tell who the client is.
        case malformed
        /// 400: a hop was plain http.
        case insecure
    }

    let field: TrustedProxies.Field
    /// Field lines with their line ends.
    let lines: String
    let outcome: Outcome

    var testDescription: String { String(lines.prefix(80)).replacing("\r\n", with: "⏎") }

    static let all = forwarded + xForwardedFor

    private static func forwarded(_ value: String, _ outcome: Outcome) -> ForwardedInput {
        ForwardedInput(field: .forwarded, lines: "Forwarded: \(value)\r\n", outcome: outcome)
    }

    private static func forwardedLines(_ lines: String, _ outcome: Outcome) -> ForwardedInput {
        ForwardedInput(field: .forwarded, lines: lines, outcome: outcome)
    }

    private static func xForwarded(_ value: String, _ outcome: Outcome) -> ForwardedInput {
        ForwardedInput(
            field: .xForwardedFor, lines: "X-Forwarded-For: \(value)\r\n", outcome: outcome)
    }

    private static func xForwardedLines(_ lines: String, _ outcome: Outcome) -> ForwardedInput {
        ForwardedInput(field: .xForwardedFor, lines: lines, outcome: outcome)
    }

    private static let long = String(repeating: "a", count: 4000)

    private static let forwarded: [ForwardedInput] = [
        // The proxy's own request, and what somebody else's field says.
        forwardedLines("", .silent("10.0.0.1")),
        forwardedLines("X-Forwarded-For: 203.0.113.9\r\n", .silent("10.0.0.1")),
        forwardedLines("X-Forwarded-Proto: http\r\n", .silent("10.0.0.1")),
        // Forms of the client.
        forwarded("for=203.0.113.9", .silent("203.0.113.9")),
        forwarded("for=203.0.113.9;proto=https", .secure("203.0.113.9")),
        forwarded("proto=https;by=10.0.0.1;host=a.example;for=203.0.113.9", .secure("203.0.113.9")),
        forwarded("FOR=203.0.113.9;PROTO=HTTPS", .secure("203.0.113.9")),
        forwarded("for=\"203.0.113.9\";proto=\"https\"", .secure("203.0.113.9")),
        forwarded("for=\"203.0.113.9:4711\";proto=https", .secure("203.0.113.9")),
        forwarded("for=\"203.0.113.9:_port.1-x\";proto=https", .secure("203.0.113.9")),
        forwarded("for=\"\\203.0.113.\\9\";proto=https", .secure("203.0.113.9")),
        forwarded("for=\"[2001:db8::9]\";proto=https", .secure("2001:db8::9")),
        forwarded("for=\"[2001:DB8:0::9]:443\";proto=https", .secure("2001:db8::9")),
        forwarded("for=\"[::ffff:203.0.113.9]\";proto=https", .secure("203.0.113.9")),
        forwarded("for=203.0.113.9;proto=https;secret=\"a;b, c\\\"d\"", .secure("203.0.113.9")),
        forwarded("for=203.0.113.9;proto=https\t ", .secure("203.0.113.9")),
        // From the right, past proxies that are trusted themselves, and no further.
        forwarded("for=198.51.100.1, for=203.0.113.9;proto=https", .secure("203.0.113.9")),
        forwarded(
            "for=203.0.113.9;proto=https , for=10.0.0.2;proto=https", .secure("203.0.113.9")),
        forwarded(
            "for=203.0.113.9;proto=https,for=\"[2001:db8:a::2]\";proto=https",
            .secure("203.0.113.9")),
        forwarded("for=203.0.113.9, for=10.0.0.2;proto=https", .silent("203.0.113.9")),
        forwarded("for=203.0.113.9;proto=https, for=10.0.0.2", .silent("203.0.113.9")),
        forwarded("for=10.0.0.3;proto=https, for=10.0.0.2;proto=https", .secure("10.0.0.3")),
        forwarded("for=10.9.9.9, for=203.0.113.9;proto=https", .secure("203.0.113.9")),
        forwarded("for=unknown, for=203.0.113.9;proto=https", .secure("203.0.113.9")),
        forwarded("proto=http, for=203.0.113.9;proto=https", .secure("203.0.113.9")),
        forwardedLines(
            "Forwarded: for=198.51.100.1\r\nForwarded: for=203.0.113.9;proto=https\r\n",
            .secure("203.0.113.9")),
        forwardedLines(
            "Forwarded: for=203.0.113.9;proto=https\r\nX: y\r\nforwarded: for=10.0.0.2;proto=https\r\n",
            .secure("203.0.113.9")),
        // A line that the client wrote and no proxy touched is never read.
        forwardedLines(
            "Forwarded: ;;;\"\r\nForwarded: for=203.0.113.9;proto=https\r\n",
            .secure("203.0.113.9")),
        // The client is in doubt.
        forwarded("", .malformed), forwarded(",", .malformed), forwarded(";", .malformed),
        forwarded("for", .malformed), forwarded("for=", .malformed), forwarded("=a", .malformed),
        forwarded("for=\"\"", .malformed), forwarded("for=unknown", .malformed),
        forwarded("for=_hidden", .malformed), forwarded("for=\"_hidden:80\"", .malformed),
        forwarded("for=\"unknown:80\"", .malformed), forwarded("proto=https", .malformed),
        forwarded("by=10.0.0.1;proto=https", .malformed),
        forwarded("for=203.0.113.9;for=203.0.113.8", .malformed),
        forwarded("for=203.0.113.9;FOR=203.0.113.9", .malformed),
        forwarded("for=203.0.113.9;proto=https;proto=https", .malformed),
        forwarded("for=203.0.113.9; proto=https", .malformed),
        forwarded("for=203.0.113.9 ;proto=https", .malformed),
        forwarded("for =203.0.113.9", .malformed), forwarded("for= 203.0.113.9", .malformed),
        forwarded("for=203.0.113.9;", .malformed), forwarded(";for=203.0.113.9", .malformed),
        forwarded("for=203.0.113.9;;proto=https", .malformed),
        forwarded("for=203.0.113.9,", .malformed), forwarded(",for=203.0.113.9", .malformed),
        forwarded("for=198.51.100.1,,for=203.0.113.9", .malformed),
        forwarded("for=203.0.113.9:80", .malformed), forwarded("for=2001:db8::9", .malformed),
        forwarded("for=[2001:db8::9]", .malformed), forwarded("for=\"2001:db8::9\"", .malformed),
        forwarded("for=\"[2001:db8::9\"", .malformed),
        forwarded("for=\"[203.0.113.9]\"", .malformed),
        forwarded("for=\"[2001:db8::9]a\"", .malformed),
        forwarded("for=\"[fe80::9%25eth0]\"", .malformed),
        forwarded("for=\"203.0.113.9:\"", .malformed),
        forwarded("for=\"203.0.113.9:65536\"", .malformed),
        forwarded("for=\"203.0.113.9:123456\"", .malformed),
        forwarded("for=\"203.0.113.9:+80\"", .malformed),
        forwarded("for=\"203.0.113.9:_\"", .malformed),
        forwarded("for=203.0.113", .malformed), forwarded("for=203.0.113.256", .malformed),
        forwarded("for=203.0.113.09", .malformed), forwarded("for=0xcb.0.113.9", .malformed),
        forwarded("for=3405803785", .malformed), forwarded("for=a.example", .malformed),
        forwarded("for=\" 203.0.113.9\"", .malformed), forwarded("for=\"203.0.113.9", .malformed),
        forwarded("for=\"203.0.113.9\\", .malformed), forwarded("for='203.0.113.9'", .malformed),
        forwarded("for=\"203.0.113.9\"x", .malformed),
        forwarded("203.0.113.9", .malformed), forwarded("for:203.0.113.9", .malformed),
        forwarded("for=203.0.113.9 for=203.0.113.8", .malformed),
        forwarded("for=203.0.113.9;proto=ftp", .malformed),
        forwarded("for=203.0.113.9;proto=\"https \"", .malformed),
        forwarded("for=203.0.113.9;proto=\"\"", .malformed),
        forwarded("for=203.0.113.9;h\u{f6}st=a", .malformed),
        forwarded("for=203.0.113.9;proto=https, for=10.0.0.2;proto=httpx", .malformed),
        forwarded("for=unknown, for=10.0.0.2;proto=https", .malformed),
        forwarded("for=203.0.113.9;x=\(long)\u{e9}", .malformed),
        // A quote that the client opens cannot swallow what the proxy adds behind it.
        forwarded("for=\"198.51.100.1, for=203.0.113.9;proto=https", .malformed),
        forwarded("for=\"198.51.100.1, for=\"[2001:db8::9]\";proto=https", .malformed),
        forwarded("x=\"\\, for=\"[2001:db8::9]\";proto=https", .malformed),
        forwardedLines(
            "Forwarded: for=203.0.113.9;x=\"\r\nForwarded: \";for=10.0.0.2;proto=https\r\n",
            .malformed),
        forwarded(
            Array(repeating: "for=10.0.0.2;proto=https", count: 33).joined(separator: ", "),
            .malformed),
        // Plain http before a trusted proxy.
        forwarded("for=203.0.113.9;proto=http", .insecure),
        forwarded("for=203.0.113.9;proto=\"HTTP\"", .insecure),
        forwarded("for=203.0.113.9;proto=http, for=10.0.0.2;proto=https", .insecure),
        forwarded("for=203.0.113.9;proto=https, for=10.0.0.2;proto=http", .insecure),
    ]

    private static let xForwardedFor: [ForwardedInput] = [
        xForwardedLines("", .silent("10.0.0.1")),
        xForwardedLines("Forwarded: for=203.0.113.9;proto=http\r\n", .silent("10.0.0.1")),
        xForwarded("203.0.113.9", .silent("203.0.113.9")),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n", .secure("203.0.113.9")),
        xForwardedLines(
            "x-forwarded-proto: HTTPS\r\nx-forwarded-for: 203.0.113.9\r\n", .secure("203.0.113.9")),
        xForwarded("203.0.113.9:4711", .silent("203.0.113.9")),
        xForwarded("2001:db8::9", .silent("2001:db8::9")),
        xForwarded("[2001:db8::9]", .silent("2001:db8::9")),
        xForwarded("[2001:db8::9]:443", .silent("2001:db8::9")),
        xForwarded("::ffff:203.0.113.9", .silent("203.0.113.9")),
        xForwarded("198.51.100.1, 203.0.113.9", .silent("203.0.113.9")),
        xForwarded("198.51.100.1,203.0.113.9 \t,\t 10.0.0.2", .silent("203.0.113.9")),
        xForwarded("203.0.113.9, 2001:db8:a::2, 10.0.0.2", .silent("203.0.113.9")),
        xForwarded("10.0.0.3, 10.0.0.2", .silent("10.0.0.3")),
        xForwarded("10.9.9.9, 203.0.113.9, 10.0.0.2", .silent("203.0.113.9")),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX: y\r\nX-Forwarded-For: 10.0.0.2\r\n",
            .silent("203.0.113.9")),
        // What the client itself wrote is not read, whatever it is.
        xForwarded("unknown, 203.0.113.9", .silent("203.0.113.9")),
        xForwarded("\"<script>, ,, 203.0.113.9", .silent("203.0.113.9")),
        xForwarded("\u{600}, 203.0.113.9", .silent("203.0.113.9")),
        xForwarded("\(long), 203.0.113.9", .silent("203.0.113.9")),
        // The client is in doubt.
        xForwarded("", .malformed), xForwarded(" ", .malformed), xForwarded(",", .malformed),
        xForwarded("203.0.113.9,", .malformed), xForwarded("203.0.113.9,,10.0.0.2", .malformed),
        xForwarded("unknown", .malformed), xForwarded("_hidden", .malformed),
        xForwarded("unknown, 10.0.0.2", .malformed), xForwarded("a.example", .malformed),
        xForwarded("203.0.113.9 10.0.0.2", .malformed),
        xForwarded("203.0.113.9;10.0.0.2", .malformed),
        xForwarded("\"203.0.113.9\"", .malformed), xForwarded("for=203.0.113.9", .malformed),
        xForwarded("203.0.113.9:", .malformed), xForwarded("203.0.113.9:99999", .malformed),
        xForwarded("203.0.113.9:80:80", .malformed), xForwarded("203.0.113", .malformed),
        xForwarded("203.0.113.009", .malformed), xForwarded("203.0.113.9/32", .malformed),
        xForwarded("2001:db8::9::", .malformed), xForwarded("[2001:db8::9", .malformed),
        xForwarded("2001:db8::9]", .malformed), xForwarded("[203.0.113.9]", .malformed),
        xForwarded("[2001:db8::9]443", .malformed), xForwarded("fe80::9%eth0", .malformed),
        xForwarded("\u{ff12}03.0.113.9", .malformed),
        xForwarded(Array(repeating: "10.0.0.2", count: 33).joined(separator: ","), .malformed),
        xForwardedLines("X-Forwarded-Proto: https\r\n", .malformed),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: ftp\r\n", .malformed),
        xForwardedLines("X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto:\r\n", .malformed),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https,\r\n", .malformed),
        // Plain http before a trusted proxy.
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\n", .insecure),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https, http\r\n", .insecure),
        xForwardedLines(
            "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http, https\r\n", .insecure),
        xForwardedLines(
            "X-Forwarded-Proto: https\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: HTTP\r\n",
            .insecure),
    ]
}
