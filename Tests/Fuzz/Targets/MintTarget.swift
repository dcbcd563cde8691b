import AssertionMint
import JOSE
import SocketServer

@testable import Broker

/// The body of a mint call. What is accepted is canonical; what is refused has an answer that repeats nothing of it.
enum MintTarget: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        do {
            let request = try MintRequest(bytes)
            let jkt = request.dpopJkt.rawValue
            promise(Base64URL.decode(jkt).map { Base64URL.encode($0) } == jkt, "dpop_jkt \(jkt)")
            promise(ClientId(request.clientId.rawValue) == request.clientId, "client_id")
            promise(
                request.clientId.rawValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "client_id")
            checkRewritten(request)
        } catch {
            let problem = Problem(error).response(requestId: "0")
            promise(problem.status == 400, "\(error)")
            let body = try? JSONValue(parsing: problem.body)
            promise(body?["status"]?.integer == 400, "the problem is no JSON")
        }
    }

    private static func checkRewritten(_ request: MintRequest) {
        var json = JSONWriter()
        json.object {
            $0.member("client_id", request.clientId.rawValue)
            $0.member("audience", request.audience)
            $0.member("dpop_jkt", request.dpopJkt.rawValue)
        }
        guard let again = try? MintRequest(json.bytes) else {
            return promise(false, "refused when written anew: \(json.text)")
        }
        promise(again.clientId == request.clientId && again.dpopJkt == request.dpopJkt, "\(again)")
        promise(again.audience.utf8.elementsEqual(request.audience.utf8), "audience")
    }
}
