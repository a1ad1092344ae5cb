internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Writes the settings of the connection that a request would use.
struct ConnectionPlanWriter {
    let plan: ConnectionPlan
    /// The file of the system's certificate authorities.
    let systemAuthorities: String

    private var origin: Origin { plan.request.url.origin }
    private var partition: ConnectionPartition { plan.request.partition }

    /// Writes the members of an object.
    func write(to writer: inout JSONWriter) {
        writer.member("url", Redaction.withoutUserInformation(plan.request.url.description))
        if origin.scheme == "https" {
            writeTrust(to: &writer)
            writeTLS(to: &writer)
            begin("client_certificate", plan.certificate, to: &writer)
            writer.key("certificate")
            if let certificate = partition.certificate {
                ClientCertificateWriter.write(certificate.summary, to: &writer)
            } else {
                writer.null()
            }
            writer.endObject()
        } else {
            for name in ["trust", "tls", "client_certificate"] as [StaticString] {
                writer.key(name)
                writer.null()
            }
        }
        writeHost(to: &writer)
        writeAddresses(to: &writer)
        writeCredential(to: &writer)
        begin("cookies", plan.cookieSource, to: &writer)
        writer.member("names", plan.cookies.map(\.name))
        if plan.request.fields.contains(where: { $0.isNamed("cookie") }) { writer.member("own_field", true) }
        writer.endObject()
        writeProxy(to: &writer)
    }

    private func writeProxy(to writer: inout JSONWriter) {
        begin("proxy", plan.proxy, to: &writer)
        if let proxy = partition.proxy {
            writer.member("server", proxy.description)
            writer.member("user", proxy.credential?.user)
            if !proxy.kind.isSOCKS {
                if proxy.credential != nil { writer.member("schemes", proxy.schemes.map(\.rawValue).sorted()) }
                if partition.proxyOrigin(for: origin) == nil { writer.member("tunnel", true) }
            }
            writer.member("preproxy", proxy.preproxy?.description)
        }
        if plan.isProxyException { writer.member("exception", true) }
        writer.endObject()
    }

    /// Maximum number of a session's credentials that are shown: each may take 2 KiB of the line.
    private static let shownSpaces = 8

    private func writeCredential(to writer: inout JSONWriter) {
        let entries = plan.sessionCredentials
        let source: ConnectionPlan.Source =
            plan.credential != nil ? .request : entries.isEmpty ? .standard : .session
        begin("credential", source, to: &writer)
        if let credential = plan.credential ?? entries.first?.credential {
            writer.member("user", credential.user)
            writer.member("schemes", credential.schemes.map(\.rawValue).sorted())
            writer.member("preemptive", credential.isPreemptive)
        }
        if !entries.isEmpty {
            writer.key("spaces")
            writer.beginArray()
            for entry in entries.prefix(ConnectionPlanWriter.shownSpaces) { CredentialWriter.write(entry, to: &writer) }
            writer.endArray()
        }
        if plan.request.fields.contains(where: { $0.isNamed("authorization") }) {
            writer.member("own_field", true)
        } else if plan.request.url.userInformation != nil {
            // Without the user, which is a token in the URLs of some servers.
            writer.member("in_url", true)
        }
        writer.endObject()
    }

    private func begin(_ name: StaticString, _ source: ConnectionPlan.Source, to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginObject()
        writer.member("source", source.rawValue)
    }

    private func writeTrust(to writer: inout JSONWriter) {
        let trust = partition.trust
        begin("trust", plan.trust, to: &writer)
        let authorities: [String] =
            switch trust.authorities {
            case _ where !trust.usesAuthorities: []
            case .system: [systemAuthorities]
            case .only(let own): [shown(own)]
            case .systemAnd(let own): [systemAuthorities, shown(own)]
            }
        writer.member("authorities", authorities)
        writer.member("verified", !trust.acceptsAnyServer)
        writer.key("evaluator")
        if let evaluator = trust.evaluator {
            writer.beginObject()
            writer.member("kind", evaluator.name ?? "missing")
            if !evaluator.partNames.isEmpty { writer.member("parts", evaluator.partNames) }
            writer.member("pattern", plan.pattern?.description)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
    }

    /// The file of the authorities; a text has none.
    private func shown(_ authorities: TrustedAuthorities) -> String {
        authorities.path.isEmpty ? "pem" : authorities.path
    }

    private func writeTLS(to writer: inout JSONWriter) {
        let tls = partition.tls ?? TLSSettings()
        begin("tls", plan.tls, to: &writer)
        writer.member("min_version", tls.minimum.rawValue)
        writer.member("max_version", tls.maximum.rawValue)
        writer.member("ciphers", tls.ciphers)
        writer.member("tls13_ciphers", tls.cipherSuites)
        writer.endObject()
    }

    private func writeHost(to writer: inout JSONWriter) {
        begin("host", plan.host, to: &writer)
        let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
        let own = plan.request.fields.first { $0.isNamed("host") }?.value
        writer.member("value", own ?? (isDefault ? origin.host : "\(origin.host):\(origin.port)"))
        writer.endObject()
    }

    private func writeAddresses(to writer: inout JSONWriter) {
        let addresses = partition.addresses ?? ConnectionAddresses()
        begin("addresses", plan.addresses, to: &writer)
        switch addresses.socket {
        case .path(let path)?: writer.member("unix_socket", path)
        case .connected?: writer.member("unix_socket", "")
        case nil:
            let destination = addresses.destination(for: origin)
            writer.member("host", destination.host)
            writer.member("port", Int(destination.port))
            if !destination.addresses.isEmpty { writer.member("resolve", destination.addresses) }
            writer.member("interface", addresses.interface)
            writer.member("local_address", addresses.localAddress)
            writer.member("family", addresses.family?.rawValue)
        }
        writer.endObject()
    }
}
