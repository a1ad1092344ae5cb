internal import CarpoolClient
package import CarpoolJSON
internal import CarpoolSystem

/// The options that say how connections are secured and where they go.
package struct ConnectionArguments: Equatable {
    package var minimumVersion: String?
    package var maximumVersion: String?
    package var ciphers: String?
    package var cipherSuites: String?
    package var certificate: String?
    package var certificateType: String?
    package var key: String?
    package var password: String?
    package var resolve: [String] = []
    package var connectTo: [String] = []
    var interface: String?
    var localAddress: String?
    package var family: String?
    package var unixSocket: String?
    /// The content of files that the daemon cannot open (``CallerFile``): in Base64, and in PEM.
    private var certificateContent: String?
    private var keyText: String?

    package init() {}

    /// Takes the value of `--interface`: a name, or an address; curl's prefixes `if!` and `host!` say which.
    package mutating func setInterface(_ value: String) throws(UsageError) {
        let name = ConnectionArguments.rest(of: value, after: "if!")
        let address = ConnectionArguments.rest(of: value, after: "host!")
        guard !(name ?? address ?? value).isEmpty else {
            throw UsageError("--interface takes the name of an interface or an IP address")
        }
        (interface, localAddress) = (nil, nil)
        if let address {
            localAddress = address
        } else if name == nil, ConnectionArguments.isAddress(value) {
            localAddress = value
        } else {
            interface = name ?? value
        }
    }

    private static func rest(of value: String, after prefix: String) -> String? {
        value.hasPrefix(prefix) ? String(value.dropFirst(prefix.count)) : nil
    }

    /// Whether a text is meant as an address: interfaces have no colons, and no names of digits and dots alone.
    private static func isAddress(_ text: String) -> Bool {
        text.contains(":") || text.contains(".") && text.utf8.allSatisfy { (48...57).contains($0) || $0 == 0x2E }
    }

    /// The values of `--tls-max`.
    package static var versions: [String] { ["default", "1.0", "1.1", "1.2", "1.3"] }

    package mutating func setMaximumVersion(_ value: String) throws(UsageError) {
        guard ConnectionArguments.versions.contains(value) else {
            throw UsageError("--tls-max takes 1.0, 1.1, 1.2, 1.3 or default, not '\(value)'")
        }
        maximumVersion = value == "default" ? nil : value
    }

    /// Takes the value of `--cert`: a file, and behind a colon its password. A backslash stands before a colon or a
    /// backslash of the name.
    package mutating func setCertificate(_ value: String) throws(UsageError) {
        var name = ""
        var rest = Substring(value)
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.first, next == ":" || next == "\\" {
                name.append(rest.removeFirst())
            } else if character == ":" {
                password = String(rest)
                VisibleArguments.hide(value)
                break
            } else {
                name.append(character)
            }
        }
        guard !name.isEmpty else { throw UsageError("--cert takes the file of a certificate") }
        certificate = name
    }

    package mutating func setCertificateType(_ value: String) throws(UsageError) {
        let type = value.lowercased()
        guard ["pem", "p12"].contains(type) else {
            throw UsageError("--cert-type takes PEM or P12, not '\(value)'")
        }
        certificateType = type
    }

    /// The options that name files, and the files.
    package var files: [(option: String, path: String)] {
        [("--cert", certificate), ("--key", key)].compactMap { option, path in path.map { (option, $0) } }
    }

    /// Whether a file has to be read here.
    package var needsCallerFiles: Bool { CallerFile.isNeeded(for: certificate) || CallerFile.isNeeded(for: key) }

    /// Reads the files that the daemon cannot open, or all.
    package mutating func readCallerFiles(all isAll: Bool = false) throws(Failure) {
        if let certificate, isAll || CallerFile.isNeeded(for: certificate) {
            certificateContent = try CallerFile.base64(certificate, of: "--cert")
        }
        if let key, isAll || CallerFile.isNeeded(for: key) { keyText = try CallerFile.text(key, of: "--key") }
    }

    /// Writes the parameter `client_certificate`.
    private func writeCertificate(to writer: inout JSONWriter) {
        guard let certificate else { return }
        writer.key("client_certificate")
        writer.beginObject()
        writer.member("file", certificateContent == nil ? SocketLocation.absolute(certificate) : nil)
        writer.member("base64", certificateContent)
        writer.member("key_file", keyText == nil ? key.map(SocketLocation.absolute) : nil)
        writer.member("key_pem", keyText)
        writer.member("type", certificateType)
        writer.member("password", password)
        writer.endObject()
    }

    /// Writes the parameters `client_certificate`, `tls` and `addresses`.
    package func write(to writer: inout JSONWriter) {
        writeCertificate(to: &writer)
        if minimumVersion != nil || maximumVersion != nil || ciphers != nil || cipherSuites != nil {
            writer.key("tls")
            writer.beginObject()
            writer.member("min_version", minimumVersion)
            writer.member("max_version", maximumVersion)
            writer.member("ciphers", ciphers)
            writer.member("tls13_ciphers", cipherSuites)
            writer.endObject()
        }
        guard self != ConnectionArguments() else { return }
        writeAddresses(to: &writer)
    }

    /// Writes the parameter `addresses`.
    package func writeAddresses(to writer: inout JSONWriter) {
        guard hasAddresses else { return }
        writer.key("addresses")
        writer.beginObject()
        if !resolve.isEmpty { writer.member("resolve", resolve) }
        if !connectTo.isEmpty { writer.member("connect_to", connectTo) }
        writer.member("interface", interface)
        writer.member("local_address", localAddress)
        writer.member("family", family)
        writer.member("unix_socket", unixSocket.map { SocketLocation.absolute($0) })
        writer.endObject()
    }

    private var hasAddresses: Bool {
        !resolve.isEmpty || !connectTo.isEmpty || interface != nil || localAddress != nil || family != nil
            || unixSocket != nil
    }
}
