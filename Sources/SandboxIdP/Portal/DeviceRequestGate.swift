import JOSE

/// Decides whose device request one is.
struct DeviceRequestGate: Sendable {
    let issuer: String
    let state: SharedState

    /// Checks a request of the portal and spends its `jti`.
    ///
    /// - Returns: the enrolment that signed, or `nil` for a throwaway key (R-000-05).
    /// - Throws: `ceremonyUnavailable` for a key id that nobody enrolled: nothing can be checked then.
    func signer(
        of body: [UInt8], _ action: DeviceRequest.Action, sid: String, now: Int64
    ) throws(OAuthFault) -> (enrolment: Enrolment?, request: DeviceRequest) {
        let request = try refusing { () throws(DeviceRequestFault) in
            try DeviceRequest(parsing: body)
        }
        let enrolment = try verifiedSigner(of: request)
        try refusing { () throws(DeviceRequestFault) in
            try request.check(action, sid: sid, issuer: issuer, now: now)
            let jti = try request.text("jti")
            let isFirstUse = state.change { state in
                state.deviceRequests.spend(
                    "\(request.keyId) \(jti)",
                    until: now + DeviceRequest.lifetime + ClockSkew.acceptedAhead, now: now)
            }
            guard isFirstUse else { throw .reused }
        }
        return (enrolment, request)
    }

    /// Checks a `ceremony_response`: the match statement and the rotated face token, signed by a key of the hinted user.
    ///
    /// Its `jti` is not spent, since a lost completion is sent again with exactly these bytes (R-000-22); the session
    /// takes no others.
    func completion(
        _ text: String, of session: ChallengeSession, now: Int64
    ) throws(OAuthFault) -> (enrolment: Enrolment, faceToken: String) {
        let request = try refusing { () throws(DeviceRequestFault) in
            try DeviceRequest(parsing: text.utf8)
        }
        guard let enrolment = try verifiedSigner(of: request), enrolment.email == session.email
        else { throw .ceremonyUnavailable }
        let faceToken = try refusing { () throws(DeviceRequestFault) in
            try request.check(
                .complete, sid: session.sid, issuer: issuer, replayableUntil: session.expiresAt,
                now: now)
            guard let match = request.claims["match"], match["verdict"]?.string == "match",
                match["engine"]?.string != nil, match["at"]?.numericDate != nil
            else { throw .claim("match") }
            return try request.text("face_token")
        }
        return (enrolment, faceToken)
    }

    private func verifiedSigner(of request: DeviceRequest) throws(OAuthFault) -> Enrolment? {
        switch request.signer {
        case .throwaway(let jwk):
            guard let key = try? PublicKey(jwk), request.isSigned(by: key) else {
                throw .deviceRequest(.signature)
            }
            return nil
        case .enrolled(let keyId):
            guard let enrolment = state.change({ $0.directory.enrolment(keyId: keyId) }) else {
                throw .ceremonyUnavailable
            }
            guard request.isSigned(by: enrolment.key) else { throw .deviceRequest(.signature) }
            try enrolment.requireGood()
            return enrolment
        }
    }

    private func refusing<Value>(
        _ body: () throws(DeviceRequestFault) -> Value
    ) throws(OAuthFault) -> Value {
        do { return try body() } catch { throw .deviceRequest(error) }
    }
}
