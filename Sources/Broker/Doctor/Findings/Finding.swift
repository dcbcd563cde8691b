import AssertionMint

/// One thing `broker doctor` looked at, and how it stands.
struct Finding: Sendable, Equatable {
    let code: FindingCode
    let subject: FindingSubject
    /// What was seen, a sentence of one line. Text from outside stands in it `quoted`; secrets never do.
    let detail: String

    init(_ code: FindingCode, _ subject: FindingSubject, _ detail: String) {
        self.code = code
        self.subject = subject
        self.detail = detail
    }

    var level: FindingLevel { code.level }
}

/// How bad a finding is.
enum FindingLevel: String, Sendable, CaseIterable {
    /// As it should be.
    case ok
    /// It works, but weaker, or closer to the edge, than it looks.
    case warning
    /// Something does not work, or is refused by somebody.
    case fault
}

/// What a finding is about.
enum FindingSubject: Hashable, Sendable, CustomStringConvertible {
    case database
    /// A login of the database.
    case role(String)
    case tenant(TenantId)
    case client(ClientId)
    /// An identity provider, for all of its clients.
    case provider(Issuer)
    /// One client at one provider.
    case registration(ClientId, at: Issuer)

    var description: String {
        switch self {
        case .database: "database"
        case .role(let name): "role \(quoted(name))"
        case .tenant(let id): "tenant \(id)"
        case .client(let id): "client \(id)"
        case .provider(let issuer): "provider \(issuer)"
        case .registration(let id, let issuer): "client \(id) at \(issuer)"
        }
    }
}
