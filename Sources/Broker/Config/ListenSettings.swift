import JOSE
import SocketServer

/// Reads the member `listen`: where connections come from.
enum ListenSettings {
    static let expectation = "must be { address, port }, { unix, mode } or { systemd: true }"
    private static let tcpMembers = ["address", "port"]
    private static let unixMembers = ["unix", "mode"]
    private static let inherited = "systemd"

    static func read(_ value: JSONValue, _ faults: inout DocumentFaults) -> ListeningEndpoint? {
        guard
            let listen = DocumentObject(
                value, path: "listen", allowed: Set(tcpMembers + unixMembers + [inherited]),
                faults: &faults)
        else { return nil }
        if listen.value(inherited) != nil {
            refuse(tcpMembers + unixMembers, beside: "systemd's socket", listen, &faults)
            let isTrue = listen.required(inherited, "must be true", &faults) {
                $0.bool == true ? true : nil
            }
            return isTrue == nil ? nil : .inherited(descriptor: ServiceManager.firstSocket)
        }
        guard unixMembers.contains(where: { listen.value($0) != nil }) else {
            return tcp(listen, &faults)
        }
        refuse(tcpMembers, beside: "a Unix socket", listen, &faults)
        return unix(listen, &faults)
    }

    private static func refuse(
        _ names: [String], beside other: String, _ listen: DocumentObject,
        _ faults: inout DocumentFaults
    ) {
        for name in names {
            guard let stray = listen.value(name) else { continue }
            faults.add(
                "does not go with \(other): \(expectation)", path: listen.child(name),
                offset: stray.offset)
        }
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
