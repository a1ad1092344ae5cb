/// The advice of the daemon in the words of the command: its options and commands, in place of parameters and methods
/// of the wire. Whole phrases are replaced, so that other text stays as it is.
package enum CommandHint {
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
        (
            "give PEM text with CERTIFICATE and PRIVATE KEY blocks, or a PKCS#12 file",
            "name the file of the private key with --key, or give a PEM file with both or a PKCS#12 file"
        ), ("give the password, or remove it", "give the password with --pass or as FILE:PASSWORD, or remove it"),
        ("check proxy (--proxy, and http_proxy", "check --proxy (and http_proxy"),
        ("the user and the password of the proxy (--proxy-user)", "the user and the password with --proxy-user"),
        ("no_proxy (--noproxy)", "--noproxy"), ("addresses (--connect-to, --resolve)", "--connect-to or --resolve"),
        ("make it an upload (kind \"upload\")", "send it with carpool post -X GET"),
        ("raise redirect.max_hops", "raise --max-redirs"),
        ("set create_directories to create missing directories", "make the directory before, with mkdir -p"),
        (
            "Check that it is a regular file, and that the daemon's user may read it. Paths are absolute.",
            "check the name, and that it is a regular file that you may read"
        ),
        ("write the whole URL, with http:// or https://", "check the URL: http[s]://HOST[:PORT]/PATH"),
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
        (
            "send fewer requests at a time, or raise connections_per_host or",
            "send fewer requests at a time, or raise --parallel or"
        ),
        (
            "Pass large bodies as a file or a descriptor, or send them with body.put.",
            "Send the body from a file, with -T FILE or -d @FILE."
        ),
        (
            "Send large bodies as a file or a descriptor, which do not count, or wait",
            "Send large bodies from a file, with -T FILE or -d @FILE, or wait"
        ),
        (
            "Pass a descriptor or send the content; read responses with body.read or body.open.",
            "Send the file through standard input (-T -), and print the response to standard output (without -o)."
        ),
        (
            "Pass a descriptor, send the content with body.put, and read responses with body.read or body.open.",
            "Send the file through standard input (-T -), and print the response to standard output (without -o)."
        ), ("pass a descriptor that was opened for writing", "use an output that can be written to"),
        ("It has disconnected; see client.list.", "It has disconnected; see carpool call client.list."),
        ("Retry after `retry_after_ms`.", "Try again later."),
        ("finish, or invalidate unused sessions; `limit_name` is the limit", "finish"),
        ("check addresses.interface or local_address (--interface)", "check --interface"),
        (
            "the URL's address is of addresses.family (-4, -6)",
            "the URL's address is of the family that -4 or -6 asks for"
        ),
        ("set tls.ciphers (--ciphers) to DEFAULT@SECLEVEL=0", "use --ciphers DEFAULT@SECLEVEL=0"),
        ("check tls.ciphers and tls13_ciphers (--ciphers, --tls13-ciphers)", "check --ciphers and --tls13-ciphers"),
        ("has not expired: crl_file of the evaluator (--crlfile)", "has not expired, with --crlfile"),
        ("without staple \"require\" (--cert-status) none is needed", "without --cert-status none is needed"),
        ("or leave out this check with an evaluator that has validate_host false", "or use --insecure"),
        ("free disk space, and resume with resume_data if the record has it", "free disk space"),
        ("set remove_previous to replace the existing file", "remove the existing file, or name another one"),
        ("or end unused ones; `limit_name` is the limit", "or end unused ones"),
        ("or give the name to client.hello on one that stays", "or give the name on one that stays"),
        ("set decode to false", "use -H 'Accept-Encoding: gzip'"),
        ("release bodies with body.release", "release bodies with carpool call body.release"),
    ]

    /// The hint with the names of the command.
    package static func text(_ hint: String) -> String {
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
