import AssertionMint
import JOSE

extension AttestationProfile {
    /// Reads the member `client_attestations` of a client, `{}` for the defaults; `nil` when it is not there, or not good: then
    /// the client's installs get none.
    init?(_ client: DocumentObject, faults: inout DocumentFaults) {
        guard let value = client.value("client_attestations"),
            let object = DocumentObject(
                value, path: client.child("client_attestations"), allowed: ["lifetime"],
                faults: &faults)
        else { return nil }
        self.init(
            lifetime: object.integer(
                "lifetime", default: Self.lifetimes.upperBound, in: Self.lifetimes, &faults))
    }

    /// Writes the value of the member.
    func write(to json: inout JSONWriter) {
        json.object { $0.member("lifetime", lifetime) }
    }
}
