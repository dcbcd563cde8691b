import JOSE

/// A phone: the install's DPoP key and an enrolled device key.
struct Device {
    let dpop: PrivateKey
    let enrolled: PrivateKey
    var email: String

    init(email: String = "ada@example.com") throws {
        dpop = try PrivateKey.generate(.ES256)
        enrolled = try PrivateKey.generate(.ES256)
        self.email = email
    }

    var keyId: String { enrolled.publicJWK.thumbprint }
}
