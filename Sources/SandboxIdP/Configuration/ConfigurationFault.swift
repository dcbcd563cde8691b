/// One fault of a configuration file, with its place.
struct ConfigurationFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member, such as `clients[0].jwks_uri`; empty for the file as a whole.
    let path: String
    /// What is wrong, in a sentence that holds no value of the file.
    let reason: String

    var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}

/// Everything that is wrong with a configuration file, so that one start tells all of it.
struct ConfigurationError: Error, Equatable, Sendable {
    let faults: [ConfigurationFault]
}

/// What is allowed and not advisable, for one application.
struct ConfigurationWarning: Equatable, Sendable {
    let clientId: String
    /// What is not advisable and what to do.
    let reason: String
}
