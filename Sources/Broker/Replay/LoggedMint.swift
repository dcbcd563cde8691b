import AssertionMint
import JOSE

/// One line of the event log, as far as a replay needs it.
enum LoggedLine: Sendable, Equatable {
    /// A mint that the limits decided.
    case mint(LoggedMint)
    /// Any other event: the limits had no part in it.
    case other

    /// - Parameter line: without its line feed.
    /// - Throws: `LogFault`; never with any of the line's text.
    init(_ line: [UInt8]) throws(LogFault) {
        let event: JSONValue
        do {
            event = try JSONValue(parsing: line)
        } catch {
            throw LogFault("column \(error.column): \(error.reason.rawValue)")
        }
        guard event.members != nil else { throw LogFault("is no object") }
        guard let name = event["event"]?.string else { throw LogFault("has no event") }
        let refusedBy: LimitScope?
        switch name {
        case "assertion.minted": refusedBy = nil
        case "assertion.refused":
            guard let scope = try Self.limit(thatMade: event) else {
                self = .other
                return
            }
            refusedBy = scope
        default:
            self = .other
            return
        }
        guard
            let at = event["ts"]?.string.flatMap({ Timestamp.microseconds(rfc3339: $0) })
        else {
            throw LogFault("ts is no timestamp such as 2026-02-28T23:59:59.000123Z")
        }
        guard let clientId = event["client_id"]?.string.flatMap(ClientId.init) else {
            throw LogFault("client_id is missing or none")
        }
        guard let jkt = event["jkt"]?.string.flatMap(DpopJkt.init) else {
            throw LogFault("jkt is no thumbprint")
        }
        self = .mint(
            LoggedMint(at: at, clientId: clientId, jkt: jkt, refusedBy: refusedBy))
    }

    /// The limit that a refusal comes from; `nil` when it comes from anything else.
    private static func limit(thatMade refusal: JSONValue) throws(LogFault) -> LimitScope? {
        guard let code = refusal["code"]?.string else { throw LogFault("has no code") }
        guard code == "rate_limited" else { return nil }
        guard let policy = refusal["policy"]?.string else { throw LogFault("has no policy") }
        // Failed authentications have a limit of their own, which is not replayed.
        return LimitScope(rawValue: policy)
    }
}

/// A mint that the limits decided: let in, or refused by one of them.
struct LoggedMint: Sendable, Equatable {
    /// Microseconds since 1970 UTC, when the event was written.
    let at: Int64
    let clientId: ClientId
    let jkt: DpopJkt
    /// `nil`: minted.
    let refusedBy: LimitScope?
}

/// Why a line is not one the broker wrote.
struct LogFault: Error, Sendable, Equatable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
