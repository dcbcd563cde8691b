/// One thing worth knowing about a call. It holds nothing else than this (R-100-71).
public struct DiagnosticEvent: Sendable, Equatable {
    /// How the step ended.
    public enum Outcome: Sendable, Equatable {
        /// The peer did what was asked, or asked for something expected.
        case served
        /// 5xx, 429 or too long.
        case busy
        /// Any other answer.
        case refused
        /// No answer.
        case lost
        /// The assertion provider had none.
        case assertionUnavailable
        /// The peer's clock is more than a day off.
        case clockOffsetTooLarge
        /// An earlier process ended while its refresh was out (R-000-57).
        case refreshInterrupted
        /// Key store, disk or random source failed.
        case deviceFault
    }

    /// `sign-in`, `session`, …
    public let flow: String
    /// The call within the flow.
    public let step: String
    /// How it ended.
    public let outcome: Outcome
    /// The HTTP status, when there was one.
    public let status: Int?
    /// The OAuth error code, when there was one.
    public let error: String?
    /// Time the call took.
    public let elapsedMilliseconds: Int64
    /// The first 8 characters of the install's thumbprint.
    public let jktPrefix: String?
}
