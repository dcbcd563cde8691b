public import JOSE

/// The gate of the broker that a caller passes (R-101 §2.3). An app uses `dpop`.
public enum BrokerCredential: Sendable {
    /// A DPoP proof by the install key for the broker's URL.
    case dpop
    /// A tenant's API token, for servers only: an app never carries one.
    case backendToken(Secret<String>)
}
