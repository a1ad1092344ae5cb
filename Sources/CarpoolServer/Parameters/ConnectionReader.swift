internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// Reads `tls` and `addresses`: how connections are secured and where they go. Their values have passed the schema.
enum ConnectionReader {
    /// The versions and ciphers of TLS.
    static func tls(_ json: JSON, path: String) throws(RPCError) -> TLSSettings {
        let settings = TLSSettings(
            minimum: version(json["min_version"]) ?? .tls12, maximum: version(json["max_version"]) ?? .tls13,
            ciphers: json["ciphers"]?.string, cipherSuites: json["tls13_ciphers"]?.string)
        guard settings.minimum <= settings.maximum else {
            let minimum = settings.minimum.rawValue
            throw .invalidParams(
                path: "\(path).max_version", message: "older than the oldest accepted version, \(minimum)",
                expected: "\(minimum) or newer, or an older min_version")
        }
        for name in ["ciphers", "tls13_ciphers"] as [StaticString] {
            guard let list = json[name]?.string else { continue }
            let isKnown =
                name.description == "ciphers"
                ? TLSSettings.isKnown(ciphers: list) : TLSSettings.isKnown(cipherSuites: list)
            guard isKnown else {
                throw .invalidParams(
                    path: "\(path).\(name)", message: "the list has no cipher that is used here",
                    expected: name.description == "ciphers"
                        ? "ciphers of TLS 1.2 and older as 'openssl ciphers' takes them, not DHE; those of TLS 1.3 are tls13_ciphers"
                        : "cipher suites of TLS 1.3 such as TLS_AES_256_GCM_SHA384, separated by colons")
            }
        }
        return settings
    }

    private static func version(_ json: JSON?) -> TLSSettings.Version? {
        json?.string.flatMap(TLSSettings.Version.init(rawValue:))
    }

    /// How hosts are reached; `nil` if nothing is set.
    /// - Parameter socket: the Unix socket, if there is one.
    static func addresses(
        _ json: JSON, path: String, socket: UnixSocketOrigin?
    ) throws(RPCError) -> ConnectionAddresses? {
        let addresses = ConnectionAddresses(
            resolve: try resolve(json["resolve"], path: "\(path).resolve"),
            connectTo: try entries(
                json["connect_to"], path: "\(path).connect_to",
                form: "host:port:other-host:other-port, each of which may be empty"
            ) {
                text throws(HostAddresses.Refusal) in try HostReplacement(text)
            },
            interface: try interface(json["interface"], path: "\(path).interface"),
            localAddress: try localAddress(json, path: "\(path).local_address"),
            family: json["family"]?.string.flatMap(ConnectionAddresses.Family.init(rawValue:)), socket: socket)
        try checkFamily(of: addresses, path: path)
        return addresses.isEmpty ? nil : addresses
    }

    /// Refuses an entry that has no address of the only family: libcurl would use the resolver's addresses instead.
    private static func checkFamily(of addresses: ConnectionAddresses, path: String) throws(RPCError) {
        guard let family = addresses.family,
            let index = addresses.resolve.firstIndex(where: { !$0.addresses.contains(where: family.contains) })
        else { return }
        throw .invalidParams(
            path: "\(path).resolve[\(index)]",
            message: "no address of the family \(family.rawValue), which is the only one",
            expected: "an address of that family, or addresses without family")
    }

    private static func resolve(_ json: JSON?, path: String) throws(RPCError) -> [HostAddresses] {
        let form = "host:port:address[,address]"
        let entries = try entries(json, path: path, form: form) { text throws(HostAddresses.Refusal) in
            try HostAddresses(text)
        }
        // Older versions refuse the whole list for such an entry.
        if CurlLibrary.profile == .http1, let index = entries.firstIndex(where: { $0.host.hasPrefix("[") }) {
            throw .invalidParams(
                path: "\(path)[\(index)]", message: "libcurl \(CurlLibrary.version) cannot replace an IPv6 address",
                expected: "an entry of connect_to, or libcurl 8.14.1")
        }
        return entries
    }

    private static func entries<Entry>(
        _ json: JSON?, path: String, form: String, _ read: (String) throws(HostAddresses.Refusal) -> Entry
    ) throws(RPCError) -> [Entry] {
        var entries: [Entry] = []
        for index in 0..<(json?.count ?? 0) {
            do throws(HostAddresses.Refusal) {
                entries.append(try read(json?[index: index]?.string ?? ""))
            } catch {
                throw .invalidParams(path: "\(path)[\(index)]", message: error.message, expected: form)
            }
        }
        return entries
    }

    private static func interface(_ json: JSON?, path: String) throws(RPCError) -> String? {
        guard let name = json?.string else { return nil }
        // The kernel's rule (dev_valid_name), and printable characters.
        guard !name.isEmpty, name != ".", name != "..",
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") })
        else {
            throw .invalidParams(
                path: path, message: "not the name of a network interface: \(name.debugDescription)",
                expected: "a name that the command ip link shows")
        }
        return name
    }

    private static func localAddress(_ json: JSON, path: String) throws(RPCError) -> String? {
        guard let text = json["local_address"]?.string else { return nil }
        guard let address = ConnectionAddresses.address(text) else {
            throw .invalidParams(
                path: path, message: "not an IP address: \(text.debugDescription)", expected: "an IPv4 or IPv6 address")
        }
        guard json["interface"] == nil else {
            throw .invalidParams(
                path: path, message: "an interface is set too", expected: "either local_address or interface")
        }
        return address
    }
}
