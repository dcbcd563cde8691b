#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What an in-app sign-in is for.
public struct SignInConfig: Sendable {
    /// The provider's issuer identifier, an `https` URL without query and fragment.
    public var issuer: String
    /// The application.
    public var clientId: String
    /// API audience (RFC 8707), or `nil`.
    public var resource: String?
    /// Empty means `openid`; `openid` is not added to others (R-000-03).
    public var scopes: [String]
    /// Email of the user; `nil` uses the key enrolled for this issuer (R-000-06).
    public var loginHint: String?
    /// A face-key operation to run after the match.
    public var pki: SignInPkiRequest?

    /// A sign-in with the `openid` scope unless told otherwise.
    public init(
        issuer: String, clientId: String, resource: String? = nil, scopes: [String] = [],
        loginHint: String? = nil, pki: SignInPkiRequest? = nil
    ) {
        self.issuer = issuer
        self.clientId = clientId
        self.resource = resource
        self.scopes = scopes
        self.loginHint = loginHint
        self.pki = pki
    }

    /// Whether the config can be used at all; checked before any call (R-000-02).
    func isValid(insecureLoopback: Bool) -> Bool {
        guard let url = RequestURL(issuer), !issuer.contains(where: { "?#@".contains($0) }),
            url.isAllowed(insecureLoopback: insecureLoopback)
        else { return false }
        // A scope token is NQCHAR (RFC 6749 §3.3); a blank would smuggle a second one in.
        let scopesAreTokens = scopes.allSatisfy { scope in
            !scope.isEmpty
                && scope.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
        }
        return !clientId.isEmpty && scopesAreTokens && loginHint != ""
    }

    var scopeText: String { scopes.isEmpty ? "openid" : scopes.joined(separator: " ") }
}

/// A face-key operation that goes with a sign-in (flows §3.11).
public struct SignInPkiRequest: Sendable, Equatable {
    /// What to do with the face keys.
    public var kind: PkiCeremonyKind
    /// Up to 255 bytes, echoed in the result.
    public var context: Data
    /// For `.sign` 32 or 64 bytes, for `.decapsulate` the ciphertext, otherwise none.
    public var operand: Data?
    /// `nil` means `.app`.
    public var scope: PkiScope?

    /// A request.
    public init(
        kind: PkiCeremonyKind, context: Data, operand: Data? = nil, scope: PkiScope? = nil
    ) {
        self.kind = kind
        self.context = context
        self.operand = operand
        self.scope = scope
    }

    /// R-000-61.
    var isValid: Bool {
        guard context.count <= 255 else { return false }
        return switch kind {
        case .publicKeys: operand == nil
        case .sign: operand.map { $0.count == 32 || $0.count == 64 } ?? false
        case .decapsulate: operand.map { !$0.isEmpty } ?? false
        }
    }
}

/// What to do with the face keys.
public enum PkiCeremonyKind: Sendable, Equatable {
    /// Give out the public keys.
    case publicKeys
    /// Sign the operand.
    case sign
    /// Open the ciphertext in the operand.
    case decapsulate
}

/// Whose face keys.
public enum PkiScope: Sendable, Equatable {
    /// This application's.
    case app
    /// The tenant's, when its administrator allows it.
    case tenant
}

/// What a face-key operation gave.
public struct SignInPkiResult: Sendable, Equatable {
    /// As in the request.
    public let context: Data
    /// The scope used.
    public let scope: PkiScope
    /// Public key of the class used.
    public let publicKey: Data
    /// The signature, for `.sign`.
    public let signature: Data?
    /// The shared secret, for `.decapsulate`; readable once.
    public let sharedSecret: OneTimeSecret?

    /// For engines.
    public init(
        context: Data, scope: PkiScope, publicKey: Data, signature: Data? = nil,
        sharedSecret: OneTimeSecret? = nil
    ) {
        self.context = context
        self.scope = scope
        self.publicKey = publicKey
        self.signature = signature
        self.sharedSecret = sharedSecret
    }
}
