extension Failure {
    /// The parameters that options set, longer names first where one contains another.
    private static let options: [(parameter: String, option: String)] = [
        (".trust.ca_file", "--cacert"), (".trust.ca_pem", "--cacert"), (".trust.ca_path", "--capath"),
        (".revocation.crl_file", "--crlfile"),
        (".revocation.crl_pem", "--crlfile"),
        (".public_keys.", "--pinnedpubkey"), (".tls.ciphers", "--ciphers"), (".tls.tls13_ciphers", "--tls13-ciphers"),
        (".tls.max_version", "--tls-max"), (".addresses.resolve", "--resolve"),
        (".addresses.connect_to", "--connect-to"), (".addresses.interface", "--interface"),
        (".addresses.local_address", "--interface"), (".addresses.unix_socket", "--unix-socket"),
        (".oauth2.token_url", "--oauth2-token-url"), (".oauth2.client_id", "--oauth2-client-id"),
        (".oauth2.client_secret", "--oauth2-client-secret"), (".oauth2.scope", "--oauth2-scope"),
        (".oauth2.parameters", "--oauth2-param"),
        (".cookies", "--cookie"), (".cache.ttl_ms", "--ttl"), (".cache", "--cache"), (".credential.", "--user"),
        ("credentials[", "the .netrc file"),
        (".proxy.all.username", "--proxy-user"), (".proxy.all.preproxy", "--preproxy"), (".proxy.all", "--proxy"),
        (".proxy.https.username", "--proxy-user"), (".proxy.http.username", "--proxy-user"),
        (".proxy.https.preproxy", "--preproxy"), (".proxy.http.preproxy", "--preproxy"),
        (".proxy.https", "the variable https_proxy or all_proxy"),
        (".proxy.http", "the variable http_proxy or all_proxy"),
        (".destination.path", "--output"), (".method", "--request"),
        ("params.headers[", "--header"), ("params.types[", "TYPE"), ("params.since", "--since"),
    ]

    /// The failure with the name of the option in place of the path of its parameter.
    package var namingOption: Failure {
        let prefix = "Invalid params: params."
        guard let message, message.hasPrefix(prefix), let end = message.dropFirst(prefix.count).firstRange(of: ": ")
        else { return self }
        let path = message[..<end.lowerBound]
        guard let known = Failure.options.first(where: { path.contains($0.parameter) }) else { return self }
        return Failure(code, "\(known.option): \(message[end.upperBound...])", hint: hint)
    }
}
