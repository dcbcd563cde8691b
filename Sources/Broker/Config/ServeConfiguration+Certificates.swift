extension ServeConfiguration {
    /// Whether requests can bring a client certificate.
    var takesCertificates: Bool { false }
}
