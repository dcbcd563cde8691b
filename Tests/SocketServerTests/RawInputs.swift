/// One entry a rule of `standards.md` §14 and a case of `cases.md` *http*, and their siblings.
enum RawInputs {
    static let all =
        requestLines + targets + hosts + fields + framing + chunks + expectations + early + legal

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

        RawInput(
            "nothing behind keep-alive and close together",
            "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n\(RawInput.second)",
            200),
        RawInput(
            "a refused body longer than it says",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n12345\(RawInput.second)",
            404,
            501),
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

        RawInput(
            "a path that only looks like dots",
            "GET /..;/%2e%2e%2e/%252e%252e/%c0%ae%c0%ae/ HTTP/1.1\r\nHost: a\r\n\r\n", 404,
            closes: false),
        RawInput(
            "absolute-form with a query and no path", "GET http://a?b HTTP/1.1\r\nHost: a\r\n\r\n",
            404, closes: false),
        RawInput(
            "absolute-form with an empty port", "GET https://a:/hello HTTP/1.1\r\nHost: a\r\n\r\n",
            200, closes: false),
        RawInput(
            "OPTIONS of a whole host", "OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n", 404,
            closes: false),
        RawInput(
            "octets above ASCII in a value",
            Array("GET /hello HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0x80, 0xFF]
                + Array("\r\n\r\n".utf8), [200], closes: false),
        RawInput(
            "a name that is almost a length",
            "GET /hello HTTP/1.1\r\nHost: a\r\nContent_Length: 34\r\nXContent-Length: 34\r\n\r\n\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "blanks around a length",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\t 5 \t\r\n\r\n12345\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "a size of 15 digits",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n000000000000005\r\n12345\r\n0\r\n\r\n\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "trailers never become fields",
            "POST /describe HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-One: y\r\nHost: b\r\n"
                + "Transfer-Encoding: x\r\n\r\n\(RawInput.second)", 200, 200, closes: false),
        RawInput(
            "GET with a body",
            "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n\(RawInput.second)\(RawInput.second)",
            200, 200, closes: false),
        RawInput(
            "an empty line between requests", "\(RawInput.second)\r\n\(RawInput.second)", 200, 200,
            closes: false),
        RawInput(
            "fields that forward, from nobody who is trusted",
            "GET /hello HTTP/1.1\r\nHost: a\r\nForwarded: ;;\r\nX-Forwarded-For: ,\r\nX-Forwarded-Proto: http\r\n\r\n",
            200, closes: false),
    ]
}
