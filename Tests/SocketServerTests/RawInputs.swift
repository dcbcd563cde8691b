/// One entry a rule of `standards.md` §14 and a case of `cases.md` *http*, and their siblings.
enum RawInputs {
    static let all =
        requestLines + targets + hosts + fields + framing + chunks + expectations + early + legal

    static let requestLines: [RawInput] = [
        .line("no version", "GET /hello", 400),
        .line("two blanks after the method", "GET  /hello HTTP/1.1", 400),
        .line("two blanks before the version", "GET /hello  HTTP/1.1", 400),
        .line("blank at the end", "GET /hello HTTP/1.1 ", 400),
        .line("tab for blank", "GET\t/hello HTTP/1.1", 400),
        .line("blank in the target", "GET /hel lo HTTP/1.1", 400),
        .line("lower-case version", "GET /hello http/1.1", 400),
        .line("version without minor", "GET /hello HTTP/1", 400),
        .line("version with two digits", "GET /hello HTTP/1.10", 400),
        .line("version with another separator", "GET /hello HTTP/1,1", 400),
        .line("HTTP/2.0", "GET /hello HTTP/2.0", 505),
        .line("HTTP/0.9 in words", "GET /hello HTTP/0.9", 505),
        RawInput("the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        .line("unknown method", "BREW /hello HTTP/1.1", 501),
        .line("lower-case method", "get /hello HTTP/1.1", 501),
        .line("method that is no token", "G(T /hello HTTP/1.1", 400),
        .line("empty method", " /hello HTTP/1.1", 400),
        RawInput("endless method", String(repeating: "A", count: 9000), 501),
        RawInput("endless target", "GET /" + String(repeating: "a", count: 9000), 414),
        .line("target of 8001", "GET /" + String(repeating: "a", count: 8000) + " HTTP/1.1", 414),
        RawInput("bare LF after the request line", "GET /hello HTTP/1.1\nHost: a\r\n\r\n", 400),
        RawInput("bare CR in the request line", "GET /hel\rlo HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        RawInput("two empty lines first", "\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        RawInput("bare LF first", "\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        RawInput("a TLS hello", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01], [400]),
        RawInput("NUL first", [0], [400]),
        .line("NUL in the target", "GET /\0 HTTP/1.1", 400),
        .line("CONNECT", "CONNECT a:443 HTTP/1.1", 405),
    ]

    static let targets: [RawInput] = [
        .line("no slash", "GET hello HTTP/1.1", 400),
        .line("fragment", "GET /hello#a HTTP/1.1", 400),
        .line("backslash", "GET /a\\b HTTP/1.1", 400),
        .line("octets above ASCII", "GET /h\u{e9}llo HTTP/1.1", 400),
        .line("half an escape", "GET /hello%4 HTTP/1.1", 400),
        .line("escape that is not hexadecimal", "GET /hello%4g HTTP/1.1", 400),
        .line("escaped NUL", "GET /hello%00 HTTP/1.1", 400),
        .line("bad escape in the query", "GET /hello?a=% HTTP/1.1", 400),
        .line("quote in the query", "GET /hello?a=\" HTTP/1.1", 400),
        .line("dot segment", "GET /a/../hello HTTP/1.1", 400),
        .line("single dot segment", "GET /./hello HTTP/1.1", 400),
        .line("dot segment at the end", "GET /hello/.. HTTP/1.1", 400),
        .line("escaped dot segment", "GET /a/%2e%2E/hello HTTP/1.1", 400),
        .line("dot segment behind an escaped slash", "GET /a%2f../hello HTTP/1.1", 400),
        .line("dot segment before an escaped backslash", "GET /a/..%5chello HTTP/1.1", 400),
        .line("asterisk with GET", "GET * HTTP/1.1", 400),
        .line("another scheme", "GET ftp://a/hello HTTP/1.1", 400),
        .line("absolute-form without host", "GET http:///hello HTTP/1.1", 400),
        .line("absolute-form with user information", "GET http://u@a/hello HTTP/1.1", 400),
        .line("absolute-form with a bad port", "GET http://a:70000/hello HTTP/1.1", 400),
    ]

    static let hosts: [RawInput] = [
        RawInput("no Host", "GET /hello HTTP/1.1\r\n\r\n\(RawInput.second)", 400),
        .fields("two Hosts", "Host: a\r\nHost: a\r\n", 400),
        .fields("two Hosts far apart", "Host: a\r\nX: y\r\nhOST: b\r\n", 400),
        .fields("empty Host", "Host:\r\n", 400),
        .fields("Host with a path", "Host: a/b\r\n", 400),
        .fields("Host with user information", "Host: u@a\r\n", 400),
        .fields("list in Host", "Host: a, b\r\n", 400),
        .fields("blank in Host", "Host: a b\r\n", 400),
        .fields("port that is no number", "Host: a:http\r\n", 400),
        .fields("port above 65535", "Host: a:65536\r\n", 400),
        .fields("port with a sign", "Host: a:+80\r\n", 400),
        .fields("port and no host", "Host: :80\r\n", 400),
        .fields("IPv6 without brackets", "Host: ::1\r\n", 400),
        .fields("IPv6 without end", "Host: [::1\r\n", 400),
        .fields("IPv6 that is none", "Host: [::g]\r\n", 400),
        .fields("text behind IPv6", "Host: [::1]a\r\n", 400),
        RawInput(
            "HTTP/1.0 with two Hosts", "GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        RawInput("absolute-form does not excuse Host", "GET http://a/hello HTTP/1.1\r\n\r\n", 400),
    ]

    static let fields: [RawInput] = [
        .fields("blank before the colon", "Host: a\r\nX-A : b\r\n", 400),
        .fields("tab before the colon", "Host: a\r\nX-A\t: b\r\n", 400),
        .fields("blank before the colon of a length", "Host: a\r\nContent-Length : 5\r\n", 400),
        .fields("folded line", "Host: a\r\nX-A: b\r\n c\r\n", 400),
        .fields("folded line with tab", "Host: a\r\nX-A: b\r\n\tc\r\n", 400),
        .fields("blank before the first field", " Host: a\r\n", 400),
        .fields("line without colon", "Host: a\r\nX-A\r\n", 400),
        .fields("empty name", "Host: a\r\n: b\r\n", 400),
        .fields("name that is no token", "Host: a\r\nX{A: b\r\n", 400),
        .fields("name above ASCII", "Host: a\r\nX\u{e9}: b\r\n", 400),
        .fields("NUL in a value", "Host: a\r\nX-A: b\0c\r\n", 400),
        .fields("bare CR in a value", "Host: a\r\nX-A: b\rc\r\n", 400),
        .fields("bare LF in a value", "Host: a\r\nX-A: b\nc\r\n", 400),
        .fields("bare LF hides a field", "Host: a\r\nX-A: b\nContent-Length: 5\r\n", 400),
        .fields("vertical tab in a value", "Host: a\r\nX-A: b\u{0b}c\r\n", 400),
        .fields("DEL in a value", "Host: a\r\nX-A: b\u{7f}\r\n", 400),
        .fields("two Authorizations", "Host: a\r\nAuthorization: b\r\nAuthorization: c\r\n", 400),
        .fields("two DPoPs", "Host: a\r\nDPoP: b\r\ndpop: b\r\n", 400),
        .fields("a list of DPoPs", "Host: a\r\nDPoP: b, c\r\n", 400),
        .fields("two Content-Types", "Host: a\r\nContent-Type: b/c\r\nContent-Type: b/c\r\n", 400),
        .fields("101 fields", "Host: a\r\n" + String(repeating: "X: y\r\n", count: 100), 431),
        .fields(
            "one field of 17 KiB",
            "Host: a\r\nX: " + String(repeating: "y", count: 17 * 1024) + "\r\n",
            431),
        .fields(
            "fields of 17 KiB together",
            "Host: a\r\n"
                + String(repeating: "X: " + String(repeating: "y", count: 1017) + "\r\n", count: 17),
            431),
        RawInput(
            "an endless field",
            "GET /hello HTTP/1.1\r\nX: " + String(repeating: "y", count: 1 << 20),
            431),
        RawInput("bare LF ends the head", "GET /hello HTTP/1.1\r\nHost: a\r\n\n", 400),
    ]

    static let framing: [RawInput] =
        [
            "+5", "-0", "-5", "5, 5", "5,5", "0x5", "5 5", "", "5.0", "5e0", "\u{665}", "5;",
            "\u{0b}5",
        ]
        .map { .length($0, 400) }
        + ["18446744073709551615", "9223372036854775808", String(repeating: "9", count: 400)]
        .map { .length($0, 400) }
        + ["65", "999999999999999999"].map { .length($0, 413) }
        + [
            " chunked, identity", " chunked, chunked", " chunked, gzip", " chunked;q=1",
            " chunked ",
            "\tchunked", "  chunked", " \u{0b}chunked", "\u{0b}chunked", " identity", " gzip", "",
            " ,chunked", " chunked,", " \"chunked\"", " chunk ed", " gzip, chunked, chunked",
        ].map { .coding($0, 400) }
        + [" xchunked", " gzip, chunked", " foo, chunked"].map { .coding($0, 501) }
        + [
            .body(
                "length, then chunked", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                "0\r\n\r\n", 400),
            .body(
                "chunked, then length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                "0\r\n\r\n", 400),
            .body(
                "chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "0\r\n\r\n", 400),
            .body(
                "chunked and identity",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                "0\r\n\r\n", 400),
            .body("two equal lengths", "Content-Length: 5\r\nContent-Length: 5\r\n", "12345", 400),
            .body("two lengths", "Content-Length: 5\r\ncontent-length: 6\r\n", "12345", 400),
            RawInput(
                "HTTP/1.0 with chunked",
                "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                    + RawInput.second, 400),
        ]

    static let chunks: [RawInput] = [
        .chunks("bare LF after a size", "5\n12345\r\n0\r\n\r\n", 400),
        .chunks("no size", "\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size with a sign", "-1\r\n", 400),
        .chunks("size with a plus", "+5\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("blank before a size", " 5\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("blank behind a size", "5 \r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size with 0x", "0x5\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size that is not hexadecimal", "g\r\n", 400),
        .chunks("size of 17 digits", "FFFFFFFFFFFFFFFFF\r\n", 400),
        .chunks("size of 16 digits", "FFFFFFFFFFFFFFFF\r\n", 400),
        .chunks("size that overflows to 5", "10000000000000005\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size above the limit", "41\r\n", 413),
        .chunks(
            "sizes above the limit together",
            "40\r\n" + String(repeating: "a", count: 64) + "\r\n1\r\n", 413),
        .chunks("no CR LF after data", "5\r\n123450\r\n\r\n", 400),
        .chunks("LF after data", "5\r\n12345\n0\r\n\r\n", 400),
        .chunks("CR and something else after data", "5\r\n12345\rX0\r\n\r\n", 400),
        .chunks("bare CR in a size line", "5\rX", 400),
        .chunks(
            "extensions above the limit", "5;" + String(repeating: "e", count: 257) + "\r\n", 400),
        .chunks("endless extension", "5;" + String(repeating: "e", count: 1 << 20), 400),
        .chunks("bare LF in an extension", "5;a\nb\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("NUL in an extension", "5;a\0\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("trailer without colon", "0\r\nX\r\n\r\n", 400),
        .chunks("folded trailer", "0\r\nX: a\r\n b\r\n\r\n", 400),
        .chunks("bare LF in a trailer", "0\r\nX: a\n\r\n", 400),
        .chunks("NUL in a trailer", "0\r\nX: \0\r\n\r\n", 400),
        .chunks("10,000 trailers", "0\r\n" + String(repeating: "X: a\r\n", count: 10_000), 413),
        .chunks("a trailer of 17 KiB", "0\r\nX: " + String(repeating: "a", count: 17 << 10), 413),
    ]

    static let expectations: [RawInput] = [
        .body("unknown expectation", "Content-Length: 5\r\nExpect: 200-ok\r\n", "12345", 417),
        .body(
            "two expectations", "Content-Length: 5\r\nExpect: 100-continue\r\nExpect: x\r\n",
            "12345", 417),
        .body(
            "100-continue with a length above the limit",
            "Content-Length: 65\r\nExpect: 100-continue\r\n", "", 413),
        RawInput(
            "100-continue on a refused path",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
            404),
        RawInput(
            "100-continue in HTTP/1.0 is ignored",
            "POST /echo HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n12345",
            200),
    ]

    static let early: [RawInput] = [
        RawInput(
            "a short refused body is skipped",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n\(RawInput.second)\(RawInput.second)",
            404, 200, closes: false),
        RawInput(
            "a short refused chunked body is skipped",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n\(RawInput.second)\r\n"
                + "0\r\n\r\n\(RawInput.second)", 404, 200, closes: false),
        RawInput(
            "a long refused body ends the connection",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
                + String(repeating: "a", count: 1_000_000) + RawInput.second, 404),
        RawInput(
            "a refusal that closes",
            "POST /refuse-and-close HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345\(RawInput.second)",
            401),
        RawInput(
            "nothing after Connection: close",
            "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n\(RawInput.second)", 200),
        RawInput(
            "nothing after an answer that closes",
            "GET /close HTTP/1.1\r\nHost: a\r\n\r\n\(RawInput.second)", 200),
        RawInput("HTTP/1.0 closes", "GET /hello HTTP/1.0\r\n\r\n\(RawInput.second)", 200),
    ]

    static let legal: [RawInput] = [
        RawInput("one empty line first", "\r\n\(RawInput.second)", 200, closes: false),
        RawInput(
            "HTTP/1.0 with keep-alive",
            "GET /hello HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n\(RawInput.second)", 200, 200,
            closes: false),
        RawInput(
            "HTTP/1.9 is served as 1.1", "GET /hello HTTP/1.9\r\nHost: a\r\n\r\n", 200,
            closes: false),
        RawInput(
            "absolute-form", "GET HTTP://b:80/hello HTTP/1.1\r\nHost: a\r\n\r\n", 200, closes: false
        ),
        RawInput("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 404, closes: false),
        RawInput(
            "dots that are no dot segment", "GET /...//.a/a..?../.. HTTP/1.1\r\nHost: a\r\n\r\n",
            404, closes: false),
        RawInput("IPv6 host", "GET /hello HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200, closes: false),
        RawInput("empty port", "GET /hello HTTP/1.1\r\nHost: a:\r\n\r\n", 200, closes: false),
        RawInput(
            "no blank behind the colon", "GET /hello HTTP/1.1\r\nHost:a\r\nX:\r\n\r\n", 200,
            closes: false),
        RawInput(
            "target of 8000",
            "GET /" + String(repeating: "a", count: 7999) + " HTTP/1.1\r\nHost: a\r\n\r\n", 404,
            closes: false),
        RawInput(
            "100 fields",
            "GET /hello HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 99)
                + "\r\n", 200, closes: false),
        RawInput(
            "length 0",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\(RawInput.second)", 200,
            200, closes: false),
        RawInput(
            "length with leading zeros",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\n12345\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "length at the limit",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 64\r\n\r\n"
                + String(repeating: "a", count: 64) + RawInput.second, 200, 200, closes: false),
        RawInput(
            "chunked in capitals",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:CHUNKED\r\n\r\n5\r\n12345\r\n0\r\n\r\n\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "extensions and trailers",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\n12345\r\n00;c\r\nX: y\r\nContent-Length: 9\r\n\r\n\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "TRACE reaches the handler", "TRACE /hello HTTP/1.1\r\nHost: a\r\n\r\n", 200,
            closes: false),
        RawInput(
            "Upgrade is ignored",
            "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\(RawInput.second)",
            200, 200, closes: false),
    ]
}
