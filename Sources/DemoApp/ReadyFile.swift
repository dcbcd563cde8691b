import FoundationEssentials
import JOSE

/// Where everything runs, as `script/server` writes it.
struct ReadyFile {
    struct Client {
        let clientId: String
        let alg: String
    }

    let broker: String
    let issuer: String
    let caFile: String
    /// The protected demo API.
    let api: String
    let clients: [Client]

    struct Unreadable: Error {
        let reason: String
    }

    init(path: String) throws(Unreadable) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(reason: "\(path) cannot be read")
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: Array(data)) } catch {
            throw Unreadable(reason: "\(path): \(error)")
        }
        func text(_ name: String, in value: JSONValue) throws(Unreadable) -> String {
            guard let text = value[name]?.string else {
                throw Unreadable(reason: "\(path): \(name) is missing")
            }
            return text
        }
        broker = try text("broker", in: json)
        issuer = try text("issuer", in: json)
        caFile = try text("ca_file", in: json)
        api = try text("api", in: json)
        var clients: [Client] = []
        for client in json["clients"]?.array ?? [] {
            clients.append(
                Client(
                    clientId: try text("client_id", in: client), alg: try text("alg", in: client)))
        }
        self.clients = clients
    }
}
