/// The numbers and switches of a configuration file.
struct ProviderSettings {
    var lifetimes = Lifetimes()
    var limits = ProviderLimits()
    var options = ProviderOptions()

    mutating func read(_ file: ConfigurationObject) {
        read(options: file)
        read(limits: file)
    }

    private mutating func read(options file: ConfigurationObject) {
        let object = file.object(
            "options",
            known: [
                "rotate_refresh_tokens", "demand_nonce_at_start", "session_lifetime",
                "access_token_lifetime", "refresh_token_idle_lifetime", "refresh_token_lifetime",
                "face_keys_available", "face_keys_tenant_scope_allowed",
            ])
        options.rotatesRefreshTokens = object.flag(
            "rotate_refresh_tokens", otherwise: options.rotatesRefreshTokens)
        options.demandsNonceAtStart = object.flag(
            "demand_nonce_at_start", otherwise: options.demandsNonceAtStart)
        options.faceKeys.isAvailable = object.flag("face_keys_available", otherwise: false)
        options.faceKeys.allowsTenantScope = object.flag(
            "face_keys_tenant_scope_allowed", otherwise: false)
        func seconds(_ name: String, _ otherwise: Int64) -> Int64 {
            object.integer(name, in: 1...31_536_000) ?? otherwise
        }
        lifetimes.session = seconds("session_lifetime", lifetimes.session)
        lifetimes.accessToken = seconds("access_token_lifetime", lifetimes.accessToken)
        lifetimes.refreshTokenIdle = seconds(
            "refresh_token_idle_lifetime", lifetimes.refreshTokenIdle)
        lifetimes.refreshToken = seconds("refresh_token_lifetime", lifetimes.refreshToken)
    }

    private mutating func read(limits file: ConfigurationObject) {
        let object = file.object(
            "limits",
            known: ["starts_per_email_hour", "starts_per_minute", "requests_per_address_minute"])
        func quota(_ name: String, _ otherwise: RateQuota) -> RateQuota {
            guard let count = object.integer(name, in: 1...1_000_000) else { return otherwise }
            return RateQuota(count: Int(count), seconds: otherwise.seconds)
        }
        limits.startsPerEmail = quota("starts_per_email_hour", limits.startsPerEmail)
        limits.startsPerTenant = quota("starts_per_minute", limits.startsPerTenant)
        limits.requestsPerAddress = quota(
            "requests_per_address_minute", limits.requestsPerAddress)
    }
}
