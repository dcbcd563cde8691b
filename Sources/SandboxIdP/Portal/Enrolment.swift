import JOSE

/// A device key a user enrolled.
struct Enrolment: Sendable {
    /// The key's RFC 7638 thumbprint.
    let keyId: String
    /// In lower case.
    let email: String
    /// The user, the same for all of a person's keys.
    let subject: String
    let deviceId: String
    let key: PublicKey
    /// The sealed face token, replaced by every completion.
    var faceToken: String
    var status = Status.good
    /// Whether the face token carries a password, which makes it useless in a sign-in (R-000-15).
    var isPasswordProtected: Bool
}

extension Enrolment {
    /// What has become of the key.
    enum Status: String, Sendable {
        case good
        /// By an administrator or the user.
        case revoked
        /// By the registration of another device (R-004-46).
        case replaced
    }

    /// Told only to the holder of the key, whose signature was checked.
    func requireGood() throws(OAuthFault) {
        switch status {
        case .good: return
        case .revoked: throw .deviceKeyRevoked
        case .replaced: throw .deviceKeyReplaced
        }
    }
}

/// Users and their enrolled device keys.
struct Directory: Sendable {
    private var enrolments: [String: Enrolment] = [:]
    private var subjects: [String: String] = [:]

    /// Enrols a key. The same key for the same address again only gets the new face token.
    ///
    /// - Parameter subject: the `sub` for an address not seen before.
    /// - Returns: the enrolment, or `nil` when the key belongs to another address.
    mutating func enrol(_ enrolment: Enrolment) -> Enrolment? {
        var enrolment = enrolment
        if let known = enrolments[enrolment.keyId] {
            guard known.email == enrolment.email else { return nil }
            enrolment = Enrolment(
                keyId: known.keyId, email: known.email, subject: known.subject,
                deviceId: known.deviceId, key: known.key, faceToken: enrolment.faceToken,
                status: known.status, isPasswordProtected: enrolment.isPasswordProtected)
        } else if let subject = subjects[enrolment.email] {
            enrolment = Enrolment(
                keyId: enrolment.keyId, email: enrolment.email, subject: subject,
                deviceId: enrolment.deviceId, key: enrolment.key, faceToken: enrolment.faceToken,
                isPasswordProtected: enrolment.isPasswordProtected)
        }
        subjects[enrolment.email] = enrolment.subject
        enrolments[enrolment.keyId] = enrolment
        return enrolment
    }

    /// The enrolment of a key.
    func enrolment(keyId: String) -> Enrolment? { enrolments[keyId] }

    /// Sets what has become of a key; whether there is such a key.
    mutating func setStatus(_ status: Enrolment.Status, ofKey keyId: String) -> Bool {
        guard enrolments[keyId] != nil else { return false }
        enrolments[keyId]?.status = status
        return true
    }

    /// Puts the rotated face token in the old one's place.
    mutating func replaceFaceToken(keyId: String, with token: String) {
        enrolments[keyId]?.faceToken = token
    }

    /// The form in which addresses are compared.
    static func normalized(_ email: String) -> String { email.lowercased() }

    /// Whether `text` can be an address at all: one `@` inside, at most 254 octets, nothing a mail header could not carry.
    static func isAddress(_ text: String) -> Bool {
        let octets = Array(text.utf8)
        guard octets.count <= 254, octets.filter({ $0 == UInt8(ascii: "@") }).count == 1,
            octets.first != UInt8(ascii: "@"), octets.last != UInt8(ascii: "@")
        else { return false }
        return octets.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
