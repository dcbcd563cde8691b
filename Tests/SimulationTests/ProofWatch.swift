import JOSE

/// Reads the proofs on the wire: whose key, which nonce, which time (R-100-30 to R-100-35).
///
/// Sendable: touched on the run's thread only.
final class ProofWatch: @unchecked Sendable {
    private unowned let world: World
    private var ids: Set<String> = []
    /// The header of the install's proofs, which names its key.
    private var header: Substring?
    private var heard: [Place: Heard] = [:]

    /// A server as one process knows it.
    private struct Place: Hashable {
        let process: Int
        let host: String
        /// The shim over the broker keeps its own.
        let isShim: Bool
    }

    private struct Heard {
        var nonce: String?
        var before: String?
        /// Milliseconds since 1970 when the newest came.
        var since: Int64 = 0
        /// How far the device's clock was off when a server last told the time, milliseconds.
        var offset: Int64?
    }

    init(world: World) { self.world = world }

    private func place(_ request: WireRequest, _ process: AppProcess) -> Place {
        let host = request.url.utf8.dropFirst(8).prefix { $0 != UInt8(ascii: "/") }
        return Place(
            process: process.id, host: String(decoding: Array(host), as: UTF8.self),
            isShim: request.path == "/v1/assertions")
    }

    func sent(_ proof: String, _ request: WireRequest, by process: AppProcess) {
        let parts = proof.split(separator: ".")
        guard parts.count == 3, let octets = Base64URL.decode(parts[1].utf8),
            let claims = try? JSONValue(parsing: octets), let id = claims["jti"]?.string
        else { return world.ledger.violate("a proof is no proof") }
        if !ids.insert(id).inserted { world.ledger.violate("the id of a proof is used twice") }
        if let header, header != parts[0], !world.device.hasLostKey {
            world.ledger.violate("the install's key changes by itself")
        }
        header = parts[0]
        if (claims["ath"] != nil) != (request.header("Authorization") != nil) {
            world.ledger.violate("a proof does not name the token it goes with")
        }
        let heard = heard[place(request, process)] ?? Heard()
        let now = world.timeline.milliseconds
        let isNewest = claims["nonce"]?.string == heard.nonce
        let wasNewest = claims["nonce"]?.string == heard.before && now <= heard.since + 1
        if !isNewest, !wasNewest {
            world.ledger.violate("a proof lacks the newest nonce of its server")
        }
        if let time = claims["iat"]?.integer, heard.offset == world.device.clockOffset,
            abs(time - now / 1000) > 16  // a slow answer tells an old time
        {
            world.ledger.violate("a proof has not its server's time", "\(time - now / 1000) s off")
        }
    }

    func arrived(_ answer: WireAnswer, _ request: WireRequest, at process: AppProcess) {
        let place = place(request, process)
        var known = heard[place] ?? Heard()
        if let nonce = answer.headers.first(where: { $0.name == "DPoP-Nonce" })?.value,
            nonce != known.nonce
        {
            known.before = known.nonce
            known.nonce = nonce
            known.since = world.timeline.milliseconds
        }
        if answer.headers.contains(where: { $0.name == "Date" }) {
            known.offset = world.device.clockOffset
        }
        heard[place] = known
    }
}
