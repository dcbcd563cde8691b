/// Judges what the service's logins may do. Pure.
///
/// `serve` needs `broker_service` and nothing more: whoever takes it over should be able neither to let himself in nor to
/// make a used identifier unused.
enum RoleChecks {
    static func findings(_ facts: RoleFacts) -> [Finding] {
        var findings: [Finding] = []
        if !facts.hasServiceRole {
            findings.append(Finding(.roleMissing, .database, "there is no role broker_service"))
        }
        for role in facts.roles {
            let powers = powers(of: role)
            if !powers.isEmpty {
                findings.append(
                    Finding(.roleTooStrong, .role(role.name), powers.joined(separator: "; ")))
            } else if role.canLogin {
                findings.append(
                    Finding(
                        .roleRestricted, .role(role.name),
                        "it may do what the service needs and no more"))
            }
        }
        if facts.hasServiceRole, !facts.roles.contains(where: { $0.canLogin && $0.isService }) {
            findings.append(
                Finding(
                    .roleUnused, .database,
                    "no login is a member of broker_service, so 'broker serve' logs in as somebody stronger"
                ))
        }
        return findings
    }

    private static func powers(of role: RoleFacts.Role) -> [String] {
        if role.isSuperuser { return ["it is a superuser"] }
        // Nothing of the rest matters to a superuser.
        if !role.superusers.isEmpty {
            return ["it can become a superuser: \(quoted(role.superusers))"]
        }
        var powers: [String] = []
        if !role.serverRoles.isEmpty {
            powers.append("it is a member of \(role.serverRoles.joined(separator: ", "))")
        }
        if role.owns { powers.append("it owns the schema broker, or something in it") }
        if role.creates { powers.append("it may CREATE in the schema broker") }
        if !role.attributes.isEmpty {
            powers.append("it has \(role.attributes.joined(separator: ", "))")
        }
        if !role.writes.isEmpty { powers.append("it may \(role.writes.joined(separator: ", "))") }
        if !role.calls.isEmpty {
            powers.append("it may call \(role.calls.joined(separator: ", "))")
        }
        return powers
    }
}
