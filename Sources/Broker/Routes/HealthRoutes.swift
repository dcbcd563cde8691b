import JOSE
import SocketServer

/// What a readiness probe found; every part named. Anybody may read it: it names no client.
struct ReadinessReport: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        let name: String
        /// Why nothing can be minted; `nil` when it can.
        let fault: String?
        /// What should be looked at all the same.
        var notice: String?
    }

    let parts: [Part]

    var isReady: Bool { parts.allSatisfy { $0.fault == nil } }

    func response() -> HTTPResponse {
        var json = JSONWriter()
        json.object {
            $0.member("status", isReady ? "ready" : "unready")
            $0.name("checks")
            $0.object {
                for part in parts { $0.member(part.name, part.fault ?? part.notice ?? "ok") }
            }
        }
        let headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
        return HTTPResponse(
            status: isReady ? 200 : 503,
            headers: isReady ? headers : headers + [("Retry-After", "1")],
            body: json.bytes)
    }
}

/// `GET /healthz`: the process runs and its lanes answer; nothing else, so that a database outage restarts no broker.
enum LivenessRoute {
    static func response() -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: Array("{\"status\":\"alive\"}".utf8))
    }
}
