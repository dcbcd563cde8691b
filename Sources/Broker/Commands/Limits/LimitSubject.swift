import AssertionMint
import JOSE

/// Reads whose limit a command is about.
enum LimitSubject {
    static let options: Set<String> = ["--tenant", "--client", "--jkt"]
    static let flags: Set<String> = ["--each-install"]

    /// `--tenant T`, `--client C`, `--client C --jkt JKT`, or `--client C --each-install`.
    static func read(_ arguments: Arguments) throws(CommandError) -> LimitOverride.Subject {
        let tenant = try arguments.value("--tenant").map { (text) throws(CommandError) in
            guard let tenant = TenantId(text) else {
                throw .usage("--tenant: no such name is possible")
            }
            return tenant
        }
        let jkt = try jkt(arguments)
        let isEachInstall = arguments.has("--each-install")
        switch (tenant, try client(arguments), jkt) {
        case (let tenant?, nil, nil) where !isEachInstall: return .tenant(tenant)
        case (nil, let client?, let jkt?) where !isEachInstall: return .install(jkt, of: client)
        case (nil, let client?, nil):
            return isEachInstall ? .eachInstall(of: client) : .client(client)
        case (nil, nil, _): throw .usage("say whose limit: --tenant or --client")
        default: throw .usage("these do not go together: --tenant, --client, --jkt, --each-install")
        }
    }

    static func client(_ arguments: Arguments) throws(CommandError) -> ClientId? {
        guard let text = arguments.value("--client") else { return nil }
        guard let client = ClientId(text) else {
            throw .usage("--client: no such client_id is possible")
        }
        return client
    }

    static func jkt(_ arguments: Arguments) throws(CommandError) -> DpopJkt? {
        guard let text = arguments.value("--jkt") else { return nil }
        guard let jkt = DpopJkt(text) else {
            throw .usage("--jkt must be 43 base64url characters of a SHA-256 thumbprint")
        }
        return jkt
    }
}
