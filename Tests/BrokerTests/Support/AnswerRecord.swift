import Glibc
import JOSE

/// An answer with the request it belongs to, for the judge of `docs/openapi.json` (`Tests/Oracle/openapi_answers.py`).
struct AnswerRecord: Sendable {
    let method: String
    let path: String
    let response: WireResponse

    /// - Parameter requestLine: the first line of what was sent; `nil` is given for anything but a request line.
    init?(requestLine: String, response: WireResponse) {
        let parts = requestLine.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].hasPrefix("/"), parts[2].hasPrefix("HTTP/") else {
            return nil
        }
        method = String(parts[0])
        path = String(parts[1].prefix { $0 != "?" })
        self.response = response
    }

    /// One line of JSON, without its end.
    var line: String {
        var json = JSONWriter(capacity: 2048)
        json.object {
            $0.member("method", method)
            $0.member("path", path)
            $0.member("status", response.status)
            $0.name("headers")
            $0.array {
                for (name, value) in response.headers {
                    $0.array {
                        $0.string(name)
                        $0.string(value)
                    }
                }
            }
            $0.member("body", response.text)
        }
        return json.text
    }

    /// Adds the line to the file that `BROKER_ANSWERS` names: `script/test` has the judge read it when all tests are done.
    func keep() {
        guard Self.descriptor >= 0 else { return }
        // One write a line, so lines of several threads and processes do not mix.
        let bytes = Array((line + "\n").utf8)
        _ = write(Self.descriptor, bytes, bytes.count)
    }

    private static let descriptor: Int32 =
        getenv("BROKER_ANSWERS").map {
            open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        } ?? -1
}
