import JOSE
import SocketServer

/// Reads the member `listen`: where connections come from.
enum ListenSettings {
    static let expectation = "must be { address, port } or { unix, mode }"
    private static let tcpMembers = ["address", "port"]
    private static let unixMembers = ["unix", "mode"]

    static func read(_ value: JSONValue, _ faults: inout DocumentFaults) -> ListeningEndpoint? {
        guard
            let listen = DocumentObject(
                value, path: "listen", allowed: Set(tcpMembers + unixMembers), faults: &faults)
        else { return nil }
        guard unixMembers.contains(where: { listen.value($0) != nil }) else {
            return tcp(listen, &faults)
        }
        for name in tcpMembers {
            guard let stray = listen.value(name) else { continue }
            faults.add(
                "does not go with a Unix socket: \(expectation)", path: listen.child(name),
                offset: stray.offset)
        }
        return unix(listen, &faults)
    }

    private static func tcp(
        _ listen: DocumentObject, _ faults: inout DocumentFaults
    ) -> ListeningEndpoint? {
        let address = listen.required("address", "must be an IPv4 or IPv6 address", &faults) {
            $0.string.flatMap { RemoteAddress($0) == nil ? nil : $0 }
        }
        let port = listen.required("port", "must be a whole number from 0 to 65535", &faults) {
            $0.integer.flatMap { UInt16(exactly: $0) }
        }
        guard let address, let port else { return nil }
        return .tcp(address: address, port: port)
    }

    private static func unix(
        _ listen: DocumentObject, _ faults: inout DocumentFaults
    ) -> ListeningEndpoint? {
        let path = listen.required(
            "unix", "must be an absolute path of at most 107 octets", &faults
        ) { $0.string.flatMap { UnixSocketPath($0) } }
        let mode = listen.optional(
            "mode", default: .ownerAndGroup,
            "must be three or four octal digits in quotes, such as \"0660\"", &faults
        ) { $0.string.flatMap { FileMode(octal: $0) } }
        return path.map { .unix($0, mode: mode) }
    }
}
