internal import CarpoolCaller
internal import CarpoolSystem

extension Option where Arguments == RequestArguments {
    /// The options of TLS.
    static var tls: [Option] {
        [
            Option("--tlsv1.0", "use TLS 1.0 or newer") { $0.connection.minimumVersion = "1.0" },
            Option("--tlsv1.1", "use TLS 1.1 or newer") { $0.connection.minimumVersion = "1.1" },
            Option("--tlsv1.2", "use TLS 1.2 or newer (the default)") { $0.connection.minimumVersion = "1.2" },
            Option("--tlsv1.3", "use TLS 1.3") { $0.connection.minimumVersion = "1.3" },
            Option("--tls-max", takes: "VERSION", "use TLS up to this version: 1.0, 1.1, 1.2, 1.3 or default") {
                (arguments, value) throws(UsageError) in try arguments.connection.setMaximumVersion(value)
            },
            Option("--ciphers", takesNonEmpty: "LIST", "the ciphers of TLS 1.2 and older, as OpenSSL lists them") {
                $0.connection.ciphers = $1
            },
            Option("--tls13-ciphers", takesNonEmpty: "LIST", "the cipher suites of TLS 1.3, separated by colons") {
                $0.connection.cipherSuites = $1
            },
        ]
    }

    /// The options of client certificates.
    static var certificate: [Option] {
        [
            Option(
                "--cert", short: "E", takes: "FILE[:PASSWORD]",
                "the client certificate: PEM, with its key or with --key, or PKCS#12"
            ) { (arguments, value) throws(UsageError) in try arguments.connection.setCertificate(value) },
            Option("--cert-type", takes: "TYPE", "PEM or P12 (default: by the content)") {
                (arguments, value) throws(UsageError) in try arguments.connection.setCertificateType(value)
            },
            Option("--key", takesNonEmpty: "FILE", "the private key of the client certificate, in PEM") {
                $0.connection.key = $1
            },
            Option("--pass", takes: "PASSWORD", "the password of the private key or the PKCS#12 file") {
                VisibleArguments.hide($1)
                $0.connection.password = $1
            },
        ]
    }

    /// The options of addresses.
    static var addresses: [Option] {
        [
            Option(
                "--resolve", takesNonEmpty: "ENTRY",
                "HOST:PORT:ADDRESS[,ADDRESS]: the addresses of a host; may be repeated"
            ) { $0.connection.resolve.append($1) },
            Option(
                "--connect-to", takesNonEmpty: "ENTRY",
                "HOST:PORT:HOST2:PORT2: connect to another host; may be repeated"
            ) { $0.connection.connectTo.append($1) },
            Option("--interface", takes: "NAME", "connect from this network interface or IP address") {
                (arguments, value) throws(UsageError) in try arguments.connection.setInterface(value)
            },
            Option("--unix-socket", takesNonEmpty: "PATH", "connect to this Unix socket, whatever the URL's host") {
                $0.connection.unixSocket = $1
            },
            Option("--ipv4", short: "4", "use IPv4 addresses alone") { $0.connection.family = "ipv4" },
            Option("--ipv6", short: "6", "use IPv6 addresses alone") { $0.connection.family = "ipv6" },
        ]
    }
}
