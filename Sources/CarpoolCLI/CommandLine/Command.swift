/// A command of `carpool`.
enum Command: String, CaseIterable {
    case get, head, post, put, patch, delete, call, watch, reachability
    case waitOnline = "wait-online"
    case daemon, doctor, openrpc, version, help

    /// The method that a request command sends; `nil` for the other commands.
    var method: String? {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        default: nil
        }
    }

    /// The options that it understands, in the order of its help.
    var options: [Option] {
        switch self {
        case .get: [.method, .header, .output, .resume] + Command.ofStreams + Command.ofEveryRequest
        case .head: [.method, .header, .output] + Command.ofEveryRequest
        case .post, .put, .patch, .delete:
            [.method, .header, .data, .json, .upload, .form, .output] + Command.ofStreams + Command.ofEveryRequest
        case .watch:
            [.scope, .since, .state, .snapshot, .count, .timeout, .pretty, .socket, .help]
        case .reachability: [.fresh, .watch, .asJSON, .socket, .help]
        case .waitOnline: [.timeout, .socket, .help]
        case .call, .daemon, .doctor, .openrpc: [.socket, .help]
        case .version, .help: [.help]
        }
    }

    private static let ofStreams: [Option] = [.stream, .lines, .events]

    private static let ofEveryRequest: [Option] = [
        .include, .fail, .retry, .timeout, .priority, .session, .certificates, .insecure, .follow, .noFollow, .http1,
        .http2, .silent, .verbose, .socket, .help,
    ]

    /// What follows its name.
    var synopsis: String {
        switch self {
        case .get, .head, .post, .put, .patch, .delete: "[OPTIONS] URL"
        case .call: "[OPTIONS] METHOD [NAME=VALUE | NAME:=JSON]... | METHOD -"
        case .watch: "[OPTIONS] [TYPE]..."
        case .reachability, .waitOnline: "[OPTIONS] [HOST]"
        case .daemon: "[OPTIONS] start | stop | status | restart"
        case .doctor, .openrpc: "[OPTIONS]"
        case .version: ""
        case .help: "[COMMAND]"
        }
    }

    /// One line for the list of commands.
    var summary: String {
        switch self {
        case .get: "fetch a URL"
        case .head: "fetch the status and header of a URL"
        case .post: "send a body to a URL"
        case .put: "store a body under a URL"
        case .patch: "change what is under a URL"
        case .delete: "delete what is under a URL"
        case .call: "call a method of the daemon and print its result"
        case .watch: "print what happens to all requests, while it happens"
        case .reachability: "say whether packets can leave this machine, or reach a host"
        case .waitOnline: "wait until packets can leave, or reach a host"
        case .daemon: "start, stop or look at the daemon"
        case .doctor: "check the installation and say what to do"
        case .openrpc: "print the description of all methods (OpenRPC)"
        case .version: "print the version"
        case .help: "print this, or the help of a command"
        }
    }

    /// What a person needs to know besides the options.
    var details: String {
        switch self {
        case .get:
            """
            The body goes to standard output, which gets all of it or nothing; errors go to standard error.
            Redirects are followed. The request goes through the daemon's pool, so that the connection of an
            earlier call is used again, whichever program made it. With -o FILE the daemon writes the file, and
            a terminal shows the progress; what broke off goes on with -C -.
            """
        case .head:
            "The status and header are printed as a response of HTTP; there is no body."
        case .post, .put, .patch, .delete:
            """
            A body given by -d is sent as application/x-www-form-urlencoded unless a header says otherwise; a
            file is sent byte for byte. -T sends a file, or what comes in while it comes; -F sends a form with
            parts (multipart/form-data). The response is printed as 'carpool get' prints it.
            """
        case .call:
            """
            NAME=VALUE gives a parameter that is a string, NAME:=JSON one that is any JSON value, and '-' reads
            all parameters from standard input as a JSON object. The result is printed as one line of JSON.
            'carpool openrpc' describes the methods.
            """
        case .watch:
            """
            Each event is a JSON object on a line of its own, as soon as it happens, whoever made the request.
            TYPE is a type of event or a pattern such as 'request.*'; without one, all are printed. When the daemon
            is restarted, the command waits for it, goes on from where it stopped, and says if it missed anything.
            """
        case .reachability:
            """
            A table on a terminal, else JSON. Nothing is sent to HOST, a name or an address: the kernel is asked
            what it would do with a packet. Exits with 6 if packets cannot leave.
            """
        case .waitOnline:
            """
            Ends as soon as the kernel has a way for them; nothing is sent to HOST, a name or an address. Exits
            with 4 if there is still none after --timeout, and with 6 if no host has that name.
            """
        case .daemon:
            """
            start     start the daemon if it does not run (requests do so by themselves)
            stop      let requests under way finish, and end the daemon
            status    say whether it runs; exit with 3 if it does not
            restart   stop and start
            """
        case .doctor:
            "Each line is ok, warn or fail, and says what to do. Exits with 1 if a line is fail."
        case .openrpc:
            "The document is the answer of the method rpc.discover: it tells what this daemon can do."
        case .version, .help:
            ""
        }
    }

    /// Lines to copy.
    var examples: [String] {
        switch self {
        case .get:
            [
                "carpool get https://example.com/", "carpool get --fail -o page.html https://example.com/",
                "carpool get -H 'Accept: text/plain' --timeout 2.5 https://example.com/",
                "carpool get -C - -o image.iso https://example.com/image.iso",
                "carpool get --lines https://example.com/log",
            ]
        case .head: ["carpool head https://example.com/"]
        case .post:
            [
                "carpool post --json '{\"name\": \"Ada\"}' https://example.com/people",
                "tar c . | carpool post -H 'Content-Type: application/x-tar' -T - https://example.com/upload",
                "carpool post -F title=Sunset -F 'photo=@sunset.jpg;type=image/jpeg' https://example.com/photos",
            ]
        case .put: ["carpool put -H 'Content-Type: text/html' -d @page.html https://example.com/page.html"]
        case .patch: ["carpool patch --json '{\"name\": \"Grace\"}' https://example.com/people/1"]
        case .delete: ["carpool delete https://example.com/people/1"]
        case .call:
            [
                "carpool call daemon.info", "carpool call request.perform url=https://example.com/ timeout_ms:=2500",
                "echo '{\"url\": \"https://example.com/\"}' | carpool call request.perform -",
            ]
        case .watch:
            [
                "carpool watch", "carpool watch --pretty 'request.did_finish' 'reachability.*'",
                "carpool watch --state ends.cursor request.did_finish | jq -r .request",
            ]
        case .reachability: ["carpool reachability", "carpool reachability --watch example.com"]
        case .waitOnline: ["carpool wait-online --timeout 30"]
        case .daemon: ["carpool daemon status", "carpool daemon start --socket /tmp/test.sock"]
        case .doctor: ["carpool doctor"]
        case .openrpc: ["carpool openrpc | jq '.methods[].name'"]
        case .version: ["carpool version"]
        case .help: ["carpool help get"]
        }
    }
}
