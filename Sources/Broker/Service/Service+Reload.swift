import JOSE
import SocketServer

extension Service {
    /// Reads the TLS files, every signing key and the declaration again and serves by them from now on: all of it, or,
    /// when any part cannot be used, nothing, with the reason in the log.
    ///
    /// - Parameter read: gives the configuration file as it is now.
    func reload(_ read: () throws(CommandError) -> ServeConfiguration) async {
        ServiceManager.reloading()
        defer { ServiceManager.ready() }
        do throws(CommandError) {
            let prepared = try prepare(try read())
            let directory = try await loadAnew()
            // Nothing fails from here on.
            if let tls = prepared.tls { server.use(tls) }
            if let forwarding = prepared.forwarding { server.use(forwarding) }
            log.write("broker.reloaded", at: clock.microseconds()) {
                $0.member("revision", directory.revision)
                $0.member("clients", directory.clients.count)
            }
        } catch {
            log.write("broker.reload_refused", at: clock.microseconds()) {
                $0.member("cause", error.message)
            }
        }
    }

    private func prepare(
        _ new: ServeConfiguration
    ) throws(CommandError) -> (tls: PreparedTLS?, forwarding: PreparedForwarding?) {
        guard new.differsOnlyInTLSFiles(from: configuration) else {
            throw .refused(
                "more than the files of 'tls' changed in the configuration: restart to use it")
        }
        do throws(ServerError) {
            return (
                try new.tls.map { (tls) throws(ServerError) in
                    try server.prepare(tls.configuration)
                },
                try new.trustedProxies?.certificates.map { (certificates) throws(ServerError) in
                    try server.prepare(certificates)
                }
            )
        } catch {
            throw .refused(error.description)
        }
    }

    private func loadAnew() async throws(CommandError) -> Directory {
        do {
            return try await directories.replace { try await repository.loadAnew() }
        } catch let error as CommandError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }
}

extension ServeConfiguration {
    /// Whether a running service can take this one's place without a restart.
    func differsOnlyInTLSFiles(from other: ServeConfiguration) -> Bool {
        guard (tls == nil) == (other.tls == nil), takesCertificates == other.takesCertificates
        else {
            return false
        }
        var same = self
        same.tls = other.tls
        return same == other
    }
}
