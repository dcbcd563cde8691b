import JOSE

/// Says how two issuer identifiers differ that should be the same, byte for byte: mostly it is one character.
enum IssuerDifference {
    /// - Parameters:
    ///   - found: what the provider calls itself.
    ///   - declared: what the client's declaration calls it; another text.
    static func text(_ found: String, declared: String) -> String {
        if found + "/" == declared { return "the declared one has a slash more at its end" }
        if found == declared + "/" { return "the declared one lacks the slash at its end" }
        if let one = HTTPTargetURI(found), let other = HTTPTargetURI(declared) {
            if one.normalized == other.normalized {
                return
                    "a URL to the same place, written otherwise: letter case, port or percent-encoding"
            }
            if one.isSecure != other.isSecure, one.host == other.host {
                return "the two differ in http and https"
            }
        }
        return found.lowercased() == declared.lowercased()
            ? "the two differ in letter case" : "that is another issuer"
    }
}
