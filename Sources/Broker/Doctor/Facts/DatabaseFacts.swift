/// What there is to know of the database before anything in it is read.
struct DatabaseFacts: Sendable {
    /// Who logged in, and how the server runs.
    struct Server: Sendable, Equatable {
        let login: String
        let isWritable: Bool
        /// Settings without which a commit is no commit, such as `fsync`, that are off.
        let switchedOff: [String]
        let clock: ClockComparison
    }

    /// How the schema stands to the migrations of this program.
    enum Schema: Sendable, Equatable {
        case current(Int)
        case missing
        case outdated(program: Int)
        case newer(database: Int, program: Int)
        /// Files and database contradict each other.
        case contradicts(String)
        /// The migrations could not be found or read, so there is nothing to compare with.
        case notComparable(String)
        case failed(PostgresError)
    }

    let server: Result<Server, PostgresError>
    /// Not looked at when there is no server.
    var schema: Schema?
    var roles: Result<RoleFacts, PostgresError>?
}

/// What those may do who can log in as the service.
struct RoleFacts: Sendable, Equatable {
    /// A login or `broker_service`, with all it may do itself or as a role that it can become.
    struct Role: Sendable, Equatable {
        let name: String
        let canLogin: Bool
        /// Whether it is the login of the service's own configuration.
        let isConfigured: Bool
        /// A member of `broker_service`, directly or not, or that role itself.
        let isService: Bool
        let isSuperuser: Bool
        /// Superusers it can become.
        var superusers: [String] = []
        /// Roles of the server itself that it can become, such as `pg_execute_server_program`.
        var serverRoles: [String] = []
        /// Whether the schema, or something in it, is its own.
        var owns = false
        /// Whether it may add tables and functions to the schema.
        var creates = false
        /// Attributes no service needs, such as `CREATEROLE`.
        let attributes: [String]
        /// Tables it may change and the service need not, such as `DELETE on client`.
        let writes: [String]
        /// Functions it may call and the service need not.
        let calls: [String]
    }

    /// Whether there is a role `broker_service`.
    let hasServiceRole: Bool
    let roles: [Role]
}
