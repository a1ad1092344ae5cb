internal import CarpoolExchange

/// The transfers between two `--next`: their URLs, and the options that they share.
struct CurlOperation: Equatable {
    /// A URL with the options that are paired with it in the order of the command line.
    struct Target: Equatable {
        enum Output: Equatable {
            /// Standard output, because nothing else is named.
            case standard
            /// `-o FILE`, with `#1` and so on not yet replaced; `-` is standard output, which gets binary bytes too.
            case file(String)
            /// `-O`
            case remoteName
        }

        /// `nil` if `-o` or `-T` have no URL yet.
        var url: String?
        /// Whether the URL is a line of the file of `--url @FILE`: it has no patterns.
        var isLiteral = false
        /// `nil` if neither `-o` nor `-O` was given for it.
        var output: Output?
        /// The output without them: that of `-O` after `--remote-name-all`, and for the URLs of a file.
        var defaultOutput = Output.standard
        /// `-T FILE`: a file, a pattern of files, `-` for standard input or `.` for standard input without waiting;
        /// empty for no upload, which is what `-T ""` says of a URL.
        var upload: String?
    }

    var targets: [Target] = []
    var request = CurlRequestOptions()
    var response = CurlResponseOptions()
    var connection = CurlConnectionOptions()
    var security = CurlSecurityOptions()
    var retry = RetryOptions()

    /// Whether one of the targets has a URL; if one has, the first one does.
    var hasURL: Bool { targets.first?.url != nil }
}

/// What is sent.
struct CurlRequestOptions: Equatable {
    /// A piece of `-d`, `--data-raw`, `--data-binary`, `--data-urlencode`, `--json` or `--url-query`.
    enum Data: Equatable, Sendable {
        /// The text as it is.
        case text(String)
        /// A file, `-` for standard input; without CR, LF and NUL bytes for `-d`.
        case file(String, stripsLineEnds: Bool)
        /// `--data-urlencode`: the name, perhaps empty, and the value that is encoded.
        case encoded(name: String, value: String)
        /// `--data-urlencode name@file`
        case encodedFile(name: String, path: String)
        /// A piece of `--json`: no `&` stands before it.
        indirect case joined(Data)
    }

    /// The line of `-H` or `--proxy-header`.
    enum Header: Equatable {
        /// `Name: value`; `Name:` removes a field, `Name;` sends it without a value.
        case line(String)
        /// `@FILE`, `-` for standard input: lines.
        case file(String)
    }

    /// The kind that `-I` or `-F` asks for; that of `-d` and `-T` is known when a transfer begins.
    var kind: CurlRequestKind?
    /// `-X`
    var method: String?
    /// `-I`
    var isHead = false
    /// `-G`
    var isGet = false
    var headers: [Header] = []
    var proxyHeaders: [Header] = []
    var data: [Data] = []
    /// Whether `--json` was given: `Content-Type` and `Accept` are `application/json`.
    var isJSON = false
    /// `-F` and `--form-string`.
    var form: [CurlFormArgument] = []
    /// `--form-escape`
    var escapesForms = false
    var queries: [Data] = []
    /// `-A`: `nil` for curl's own, empty for none.
    var userAgent: String?
    /// `-e`, without `;auto`.
    var referer: String?
    /// `-e ';auto'`: redirects have the URL before them as their referer.
    var setsReferer = false
    /// `-r`
    var range: String?
    /// `-C`: an offset, or `-` for the size of the file.
    var resume: Resume?
    /// `-z`: a date, a file, or a negated one.
    var timeCondition: String?
    var etagSave: String?
    var etagCompare: String?
    /// `--compressed`
    var isCompressed = false
    /// `--raw`
    var isRaw = false
    /// `--path-as-is`
    var keepsPath = false
    /// `-g`
    var hasNoGlobbing = false
    /// `--expect100-timeout` in milliseconds.
    var expectMilliseconds: Int?
    /// `-b`: strings with `=`, or files.
    var cookies: [String] = []
    /// `-c`
    var cookieJar: String?
    /// `-j`
    var dropsSessionCookies = false
    /// `--proto-default`
    var defaultScheme: String?

    enum Resume: Equatable {
        case fromFile
        case offset(Int64)
    }
}

/// One `-F` or `--form-string`.
struct CurlFormArgument: Equatable {
    /// The text after `-F`.
    var text: String
    /// Whether `@`, `<` and `;type=` are literal (`--form-string`).
    var isLiteral: Bool
}

/// What happens to the response.
struct CurlResponseOptions: Equatable {
    /// `--suppress-connect-headers`
    var suppressesConnectHeads = false
    enum FailMode: Equatable {
        case no
        /// `-f`
        case withoutBody
        /// `--fail-with-body`
        case withBody
    }

    /// `-i`
    var includesHead = false
    /// `-D`
    var headFile: String?
    /// `-J`
    var usesContentDisposition = false
    /// `--output-dir`
    var directory: String?
    /// `--create-dirs`
    var createsDirectories = false
    /// `--create-file-mode`
    var fileMode: UInt32?
    /// `--clobber` and `--no-clobber`; `nil` for the default.
    var clobbers: Bool?
    /// `--remove-on-error`
    var removesOnError = false
    /// `--remote-name-all`
    var usesRemoteNames = false
    /// `-R`
    var keepsTime = false
    /// `-N`
    var isUnbuffered = false
    var fail = FailMode.no
    /// `-w`: the text, or the content of the file that was named by `@FILE`; `@-` is standard input.
    var writeOut: CurlRequestOptions.Data?
    /// `--max-filesize`
    var maximumBytes: Int64?
    /// `--limit-rate`, bytes a second.
    var bytesPerSecond: Int64?
    /// `-y`, in seconds.
    private(set) var slowSeconds: Int?
    /// `-Y`, bytes a second.
    private(set) var slowBytesPerSecond: Int?
    /// `--ignore-content-length`
    var ignoresContentLength = false
    /// `-L`
    var followsRedirects = false
    /// `--location-trusted`
    var trustsRedirects = false
    /// `--max-redirs`; -1 for no limit.
    var maximumRedirects = 50
    /// `--post301`, `--post302`, `--post303`
    var keepsPost: Set<Int> = []
    /// `--proto-redir`, `--proto`: which schemes are allowed; `nil` for all of http and https.
    var schemes: Set<String>?
    var redirectSchemes: Set<String>?

    /// `-y`. As in curl, the limit is a byte a second unless there is one that is not 0.
    mutating func setSlowness(seconds: Int) {
        slowSeconds = seconds
        if slowBytesPerSecond ?? 0 == 0 { slowBytesPerSecond = 1 }
    }

    /// `-Y`. As in curl, the time is 30 seconds unless there is one that is not 0.
    mutating func setSlowness(bytesPerSecond: Int) {
        slowBytesPerSecond = bytesPerSecond
        if slowSeconds ?? 0 == 0 { slowSeconds = 30 }
    }
}

/// How the host is reached.
struct CurlConnectionOptions: Equatable {
    enum Version: Equatable {
        case http11
        case http2
    }

    /// `--http1.1`, `--http2`; `nil`: HTTP/2 over TLS.
    var version: Version?
    /// `-m`, in milliseconds.
    var timeoutMilliseconds: Int?
    /// `--connect-timeout`, in milliseconds.
    var connectMilliseconds: Int?
    /// `--resolve`, with curl's prefixes `+` and `-`.
    var resolve: [String] = []
    var connectTo: [String] = []
    var unixSocket: String?
    var interface: String?
    /// `-4` and `-6`: 4 or 6.
    var family: Int?
    /// `-x`: `nil` for the variables of the environment; empty for none.
    var proxy: String?
    /// The scheme of `--socks5` and the like, for a proxy without one.
    var proxyScheme: String?
    var preproxy: String?
    /// `--proxy-user`
    var proxyUser: String?
    /// `--proxy-digest` and the like; empty for the default.
    var proxySchemes: [String] = []
    /// `-p`
    var tunnels = false
    var noProxy: String?
}

/// Who both sides are.
struct CurlSecurityOptions: Equatable {
    /// `-k`
    var isInsecure = false
    var authoritiesFile: String?
    var authoritiesDirectory: String?
    var revocationLists: String?
    /// `--cert-status`
    var requiresStatus = false
    /// `-E`, with its password after a colon.
    var certificate: String?
    var certificateType: String?
    var key: String?
    var keyType: String?
    var password: String?
    var pinnedKeys: String?
    /// `--tlsv1.2` and so on: 0 to 3.
    var minimumTLS: Int?
    /// `--tls-max`: 0 to 3.
    var maximumTLS: Int?
    var ciphers: String?
    var suites: String?
    /// `-u`
    var user: String?
    /// `--basic`, `--digest`, `--anyauth`; empty for the default.
    var schemes: [String] = []
    /// `--oauth2-bearer`
    var bearer: String?
    /// `-n`
    var readsNetrc = false
    /// `--netrc-optional`
    var hasOptionalNetrc = false
    /// `--netrc-file`
    var netrcFile: String?

    /// Whether a `.netrc` file is read, and which users go first.
    enum LoginFile: Equatable {
        case none
        /// The users of the file.
        case required
        /// Those of URLs.
        case optional
    }

    /// What the options about `.netrc` files mean together.
    var netrc: LoginFile {
        if hasOptionalNetrc { return .optional }
        return readsNetrc || netrcFile != nil ? .required : .none
    }
}
