import AssertionMint
import JOSE
import SocketServer

@testable import Broker

/// The body of a mint call, of every kind. What is accepted is canonical; what is refused has an answer that repeats nothing
/// of it.
enum MintTarget: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        for kind in TokenKind.allCases { run(bytes, kind) }
    }

    private static func run(_ bytes: [UInt8], _ kind: TokenKind) {
        do {
            let request = try MintRequest(bytes, for: kind)
            let jkt = request.dpopJkt.rawValue
            promise(Base64URL.decode(jkt).map { Base64URL.encode($0) } == jkt, "dpop_jkt \(jkt)")
            promise(ClientId(request.clientId.rawValue) == request.clientId, "client_id")
            promise(
                request.clientId.rawValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "client_id")
            checkRewritten(request, kind)
        } catch {
            let problem = Problem(error).response(requestId: "0")
            promise(problem.status == 400, "\(error)")
            let body = try? JSONValue(parsing: problem.body)
            promise(body?["status"]?.integer == 400, "the problem is no JSON")
        }
    }

    private static func checkRewritten(_ request: MintRequest, _ kind: TokenKind) {
        var json = JSONWriter()
        json.object {
            $0.member("client_id", request.clientId.rawValue)
            $0.member("dpop_jkt", request.dpopJkt.rawValue)
            switch request.wish {
            case .clientAssertion(let audience): $0.member("audience", audience)
            case .clientAttestation(let key?):
                $0.name("jwk")
                key.write(to: &$0, asSigningKey: false)
            case .clientAttestation(nil), .transportToken: break
            }
        }
        guard let again = try? MintRequest(json.bytes, for: kind) else {
            return promise(false, "refused when written anew: \(json.text)")
        }
        promise(again.clientId == request.clientId && again.dpopJkt == request.dpopJkt, "\(again)")
        switch (again.wish, request.wish) {
        case (.clientAssertion(let left), .clientAssertion(let right)):
            promise(left.utf8.elementsEqual(right.utf8), "audience")
        case (.clientAttestation(let left), .clientAttestation(let right)):
            promise(left?.material == right?.material, "jwk")
        case (.transportToken, .transportToken): break
        default: promise(false, "asked for \(kind), and read as another kind")
        }
    }
}
