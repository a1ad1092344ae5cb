/// The advice of the daemon in the words of the command: its options and commands, in place of parameters and methods
/// of the wire. Whole phrases are replaced, so that other text stays as it is.
enum CommandHint {
    /// The phrases of the daemon, and what to say instead.
    static let phrases: [(daemon: String, command: String)] = [
        ("raise connect_timeout_ms", "raise --connect-timeout"),
        ("raise resource_timeout_ms (--timeout)", "raise --timeout"), ("raise timeout_ms", "raise --timeout"),
        ("raise oauth2.refresh_timeout_ms", "raise refresh_timeout_ms of the interceptor oauth2 of the session"),
        ("raise max_ratio", "raise max_ratio of the session"),
        ("raise max_body_bytes (--max-filesize)", "raise --max-filesize"),
        ("set waits_for_connectivity to true", "run carpool wait-online before"),
        ("set trust.ca_file (--cacert) to the file", "use --cacert with the file"),
        ("trust.verify false (--insecure)", "--insecure"),
        ("set client_certificate (--cert) to the file", "use --cert with the file"),
        ("check proxy (--proxy, and http_proxy", "check --proxy (and http_proxy"),
        ("the user and the password of the proxy (--proxy-user)", "the user and the password with --proxy-user"),
        ("no_proxy (--noproxy)", "--noproxy"), ("addresses (--connect-to, --resolve)", "--connect-to or --resolve"),
        ("make it an upload (kind \"upload\")", "send it with carpool post -X GET"),
        ("raise redirect.max_hops", "raise max_hops in redirect of the session"),
        ("set redirect.allow_downgrade", "set allow_downgrade in redirect of the session"),
        ("omit serialize,", "leave out the serializer,"),
        ("set one with session.set_credential", "set one with carpool call session.set_credential"),
        ("Create it first; see session.list.", "create it with carpool call session.create name=NAME"),
        ("see request.list.", "carpool ls --all lists the requests."),
        ("See rpc.discover for", "See carpool openrpc for"), ("See cache.stats for", "See carpool cache stats for"),
        ("within deadline_ms", "in time"),
        (
            "add an evaluator for this host to trust.evaluators, or set trust.all_hosts_must_be_evaluated to false",
            "the session has no evaluator for this host: use another session"
        ), ("raise deadline_ms, or answer sooner", "answer sooner, or raise the deadline of the callback"),
        (
            "read the stream as bytes or text, or raise max_line_bytes with client.hello",
            "use --stream in place of --lines or --sse"
        ),
        (
            "set tls.min_version and max_version (--tlsv1.0 to --tlsv1.3, --tls-max), and for TLS 1.0 and 1.1 also tls.ciphers (--ciphers) to",
            "use --tlsv1.0 to --tlsv1.3 and --tls-max, and for TLS 1.0 and 1.1 also --ciphers"
        ),
        ("release bodies with body.release", "release bodies with carpool call body.release"),
    ]

    /// The hint with the names of the command.
    static func text(_ hint: String) -> String {
        phrases.reduce(hint) { text, phrase in
            guard let range = text.firstRange(of: phrase.daemon) else { return text }
            return text.replacingCharacters(range, phrase.command)
        }
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>, _ text: String) -> String {
        String(self[..<range.lowerBound]) + text + self[range.upperBound...]
    }
}
