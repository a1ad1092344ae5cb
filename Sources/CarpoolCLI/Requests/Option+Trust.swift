internal import CarpoolCaller

extension Option where Arguments == RequestArguments {
    /// The options of trust.
    static var trust: [Option] {
        [
            Option("--cacert", takesNonEmpty: "FILE", "trust the certificates in FILE, and no others") {
                (arguments, path) throws(UsageError) in try arguments.trust.setAuthorities(path)
            },
            Option("--capath", takesNonEmpty: "DIR", "trust the certificates in the files of DIR, and no others") {
                (arguments, path) throws(UsageError) in try arguments.trust.setDirectory(path)
            },
            Option("--insecure", short: "k", "do not verify the server's certificate") {
                (arguments, _) throws(UsageError) in try arguments.trust.setInsecure()
            },
            Option(
                "--pinnedpubkey", takesNonEmpty: "PINS",
                "require one of these keys: sha256//BASE64, several with ';', or a PEM file"
            ) { (arguments, text) throws(UsageError) in try arguments.trust.addPins(text) },
            Option(
                "--crlfile", takesNonEmpty: "FILE", "refuse certificates that these lists revoke or do not cover"
            ) {
                $0.trust.revocationLists = $1
            },
            Option("--cert-status", "require an OCSP answer with the certificate") {
                $0.trust.requiresStaple = true
            },
        ]
    }
}
