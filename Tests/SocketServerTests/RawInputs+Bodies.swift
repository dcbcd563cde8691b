/// Framing, chunks and expectations.
extension RawInputs {
    static let framing: [RawInput] =
        [
            "+5", "-0", "-5", "5, 5", "5,5", "0x5", "5 5", "", "5.0", "5e0", "\u{665}", "5;",
            "\u{0b}5", "5;q=1", "\"5\"", "5\0", ",5", "5,", "--5", "1_0", "\u{ff15}", "Infinity",
            "5\u{a0}",
            "5\u{0c}", "0x", "five", "0005 ; a", "(a)5",
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
            " chunked\t", " \tchunked", " chunked\0", " Chunked, CHUNKED", " chunked;",
            " chunked ;a",
            " (a)chunked", " chunked(a)", " chunk\u{e9}d", " GZIP", " Identity", " deflate",
            " chunked,,",
            " identity, identity", " x chunked", " \u{a0}chunked", " gzip, identity", " =chunked",
        ].map { .coding($0, 400) }
        + [
            " xchunked", " gzip, chunked", " foo, chunked", " identity, chunked", " chunkedx",
            " chunke", " trailers",
        ].map { .coding($0, 501) }
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
            .body(
                "length 0 and chunked", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
                "0\r\n\r\n", 400),
            .body(
                "chunked and a coding that is empty",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n", "0\r\n\r\n", 400),
            .body(
                "the coding far from the length",
                "Content-Length: 5\r\nX: y\r\ntRANSFER-eNCODING: chunked\r\n", "0\r\n\r\n", 400),
            .body(
                "three lengths", String(repeating: "Content-Length: 5\r\n", count: 3), "12345", 400),
            .body(
                "a good length and an empty one", "Content-Length: 5\r\nContent-Length:\r\n",
                "12345",
                400),
            RawInput(
                "GET with length and chunked",
                "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                    + RawInput.second, 400),
            RawInput(
                "HTTP/1.0 with identity",
                "POST /echo HTTP/1.0\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n12345"
                    + RawInput.second, 400),
            RawInput(
                "HTTP/1.0 kept alive with length and chunked",
                "POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + RawInput.second, 400),
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

        .chunks("size of 16 digits that are zeros", "0000000000000005\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size with an underscore", "1_0\r\n", 400),
        .chunks("tab behind a size", "5\t\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("comma behind a size", "5,\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("size with a suffix", "5h\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("NUL behind a size", "5\0\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("a digit that is not ASCII for a size", "\u{665}\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("zero with a sign", "-0\r\n\r\n", 400),
        .chunks("two CR behind a size", "5\r\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("bare CR in an extension", "5;a\rb\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("CR LF in a quoted extension", "5;a=\"\r\n12345\"\r\n0\r\n\r\n", 400),
        .chunks(
            "extensions above the limit together",
            String(repeating: "1;eeeeeeee\r\na\r\n", count: 33), 400),
        .chunks("data longer than its size", "4\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("data shorter than its size", "6\r\n12345\r\n0\r\n\r\n", 400),
        .chunks("LF and CR after data", "5\r\n12345\n\r0\r\n\r\n", 400),
        .chunks("bare LF ends the trailers", "0\r\n\n", 400),
        .chunks("bare LF after the last size", "0\n\r\n", 400),
        .chunks("CR and something else at the end", "0\r\n\rX", 400),
        .chunks(
            "100,000 chunks of one octet", String(repeating: "1\r\na\r\n", count: 100_000), 413),
        .chunks("blank before a trailer's colon", "0\r\nX : a\r\n\r\n", 400),
        .chunks("trailer that begins with a blank", "0\r\n X: a\r\n\r\n", 400),
        .chunks("trailer without name", "0\r\n: a\r\n\r\n", 400),
        .chunks("bare CR in a trailer", "0\r\nX: a\rb\r\n\r\n", 400),
        .chunks("101 trailers", "0\r\n" + String(repeating: "X: a\r\n", count: 101), 413),
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

        .body("empty expectation", "Content-Length: 5\r\nExpect:\r\n", "12345", 417),
        .body(
            "a list of expectations", "Content-Length: 5\r\nExpect: 100-continue, x\r\n", "12345",
            417),
        RawInput(
            "100-continue with chunked on a refused path",
            "POST /refuse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
                + RawInput.second, 404),
    ]
}
