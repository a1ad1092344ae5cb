internal import CarpoolHTTP

/// The options of curl for the settings of a connection.
enum CurlConnection {
    /// The options: trust, client certificate, versions and ciphers of TLS, addresses.
    static func options(_ partition: ConnectionPartition, reveal: Bool) -> [String] {
        var lines: [String] = []
        if !partition.trust.isVerified { lines.append("--insecure") }
        if case .only(let authorities) = partition.trust.authorities {
            lines.append("--cacert \(file(of: authorities))")
        }
        // Its files are not known, and a key is never shown.
        if let certificate = partition.certificate {
            lines.append("--cert \(ShellText.quoted("<\(certificate.summary.subject)>"))")
        }
        if let tls = partition.tls { lines += options(tls) }
        if let addresses = partition.addresses { lines += options(addresses) }
        if let proxy = partition.proxy {
            lines += options(proxy, reveal: reveal)
            if proxy.kind == .https, case .only(let authorities) = partition.trust.authorities {
                lines.append("--proxy-cacert \(file(of: authorities))")
            }
        }
        return lines
    }

    /// The file of authorities; a text has none.
    private static func file(of authorities: TrustedAuthorities) -> String {
        ShellText.quoted(authorities.path.isEmpty ? "<the text of ca_pem>" : authorities.path)
    }

    private static func options(_ proxy: Proxy, reveal: Bool) -> [String] {
        var lines = ["--proxy \(ShellText.quoted(proxy.description))"]
        if proxy.schemes != [.basic] {
            lines.append(proxy.schemes == [.digest] ? "--proxy-digest" : "--proxy-anyauth")
        }
        if let credential = proxy.credential {
            let password = reveal ? credential.password : Redaction.mark
            lines.append("--proxy-user \(ShellText.quoted("\(credential.user):\(password)"))")
        }
        if proxy.tunnelsEverything { lines.append("--proxytunnel") }
        if let preproxy = proxy.preproxy { lines.append("--preproxy \(ShellText.quoted(preproxy.description))") }
        return lines
    }

    private static func options(_ tls: TLSSettings) -> [String] {
        var lines = ["--tlsv\(tls.minimum.rawValue)", "--tls-max \(tls.maximum.rawValue)"]
        if let ciphers = tls.ciphers { lines.append("--ciphers \(ShellText.quoted(ciphers))") }
        if let suites = tls.cipherSuites { lines.append("--tls13-ciphers \(ShellText.quoted(suites))") }
        return lines
    }

    private static func options(_ addresses: ConnectionAddresses) -> [String] {
        var lines = addresses.resolve.map { "--resolve \(ShellText.quoted($0.text))" }
        lines += addresses.connectTo.map { "--connect-to \(ShellText.quoted($0.text))" }
        if let source = addresses.interface ?? addresses.localAddress {
            lines.append("--interface \(ShellText.quoted(source))")
        }
        if case .path(let path)? = addresses.socket { lines.append("--unix-socket \(ShellText.quoted(path))") }
        switch addresses.family {
        case .ipv4: lines.append("-4")
        case .ipv6: lines.append("-6")
        case nil: break
        }
        return lines
    }
}
