/// A response as a client reads it.
struct Answer: Equatable, Sendable {
    var status: Int
    var fields: [String: String]
    var body: String
    /// Whether the server's end of the connection came right after it.
    var wasLast = false

    var saysClose: Bool { fields["connection"] == "close" }

    /// Takes one whole response off the front, if there is one.
    static func take(from bytes: inout [UInt8], isHead: Bool) -> Answer? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= 4,
            let headEnd = (0...(bytes.count - 4)).first(where: {
                Array(bytes[$0..<($0 + 4)]) == end
            })
        else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        guard let statusLine = lines.first, let status = Int(statusLine.dropFirst(9).prefix(3))
        else {
            return nil
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let length = isHead || status == 100 ? 0 : Int(fields["content-length"] ?? "0") ?? 0
        guard bytes.count >= headEnd + 4 + length else { return nil }
        let body = String(decoding: bytes[(headEnd + 4)..<(headEnd + 4 + length)], as: UTF8.self)
        bytes.removeFirst(headEnd + 4 + length)
        return Answer(status: status, fields: fields, body: body)
    }
}
