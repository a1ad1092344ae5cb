/// The rooms of each target, the rooms that each of them uses, and why. A new edge is a decision: it is written into
/// these tables with its reason.
let rooms: [String: [String: [String: String]]] = [
    "CarpoolCLI": [
        "Cache": ["CommandLine": "options become parameters, and spans are printed"],
        "CommandLine": [:],
        "Commands": [
            "Cache": "cache lists, explains and purges responses",
            "CommandLine": "a command is a Command with options",
            "Completion": "completion prints the completions of a shell",
            "Daemon": "a command finds, starts or stops the daemon",
            "Events": "watch and reachability print events",
            "Inspection": "ls, show and watch print requests",
            "Manual": "help prints pages of the manual",
            "Network": "reachability and wait-online watch networks",
            "Requests": "get, post and the others send requests",
        ],
        "Completion": [
            "CommandLine": "the options of the commands are completed",
            "Requests": "options with fixed values",
        ],
        "Daemon": [:],
        "Events": [:],
        "Inspection": [
            "CommandLine": "ages are printed, and names are arguments",
            "Requests": "what the cache did is printed as by -v",
        ],
        "Manual": ["CommandLine": "the help is laid out as a page"],
        "Network": [
            "CommandLine": "the arguments of both commands",
            "Events": "a watch follows events",
        ],
        "Program": [
            "CommandLine": "the command line is parsed",
            "Commands": "the command is found and run",
        ],
        "Requests": [
            "CommandLine": "options become members of a request",
            "Daemon": "the progress of a request is asked for",
        ],
    ],
    "CarpoolCache": [
        "Disk": ["Entries": "the rows of the index become entries"],
        "Entries": [:],
        "Headers": [:],
        "Policy": [
            "Entries": "the rules decide about stored responses",
            "Headers": "the rules read the fields of requests and responses",
        ],
        "Stores": [
            "Disk": "a store has its part on disk",
            "Entries": "what is stored",
            "Policy": "lists say how long a response is fresh",
        ],
        "Transport": [
            "Disk": "bodies are read from the disk",
            "Entries": "a stored response is served",
            "Policy": "the rules decide what a task does",
            "Stores": "a task looks its request up",
        ],
    ],
    "CarpoolCaller": [
        "Connections": ["Failures": "a wrong option, or a file that cannot be read, is a failure"],
        "Daemon": ["Failures": "a daemon that cannot be reached is a failure"],
        "Failures": [:],
        "Terminal": ["Failures": "an output that cannot be written is a failure"],
    ],
    "CarpoolCurl": [
        "CommandLine": [
            "Configuration": "options become settings of transfers",
            "Input": "a field of -F is checked when it is read",
            "Parts": "files, URLs and failures",
        ],
        "Configuration": [:],
        "Exchanges": [
            "Configuration": "the options of an operation",
            "Input": "what is sent",
            "Output": "the text of -w, and standard output",
            "Parts": "URLs, texts, .netrc files and failures",
        ],
        "Input": [
            "Configuration": "the options say what is sent",
            "Parts": "URLs, texts and failures",
        ],
        "Output": [
            "Configuration": "a report of a transfer is printed",
            "Parts": "URLs, texts and failures",
        ],
        "Parts": [:],
        "Transfers": [
            "CommandLine": "the command line decides who carries it out",
            "Configuration": "the options of all transfers",
            "Exchanges": "a transfer is one or more exchanges",
            "Input": "redirects, bodies and ETags",
            "Output": "files, reports, progress and messages",
            "Parts": "URLs, texts and failures",
        ],
    ],
    "CarpoolExchange": ["Decoding": [:], "Output": [:], "Retries": [:]],
    "CarpoolHTTP": [
        "Bodies": ["Transport": "reads a BodyFile ahead for a BodyReading"],
        "Curl": [
            "Transport": "the options of a handle come from a request; errors and heads become values",
            "Trust": "a handle verifies with a TrustStore",
        ],
        "Decoding": ["Transport": "the head names the codings; a failure is a TransportError"],
        "Engine": [
            "Bodies": "a transfer reads its body from a file",
            "Curl": "a transfer drives an easy handle",
            "Decoding": "a transfer decodes its body",
            "Pacing": "a turn moves a bounded number of bytes",
            "Pool": "a transfer runs on a connection of its origin's pool",
            "Queue": "a transfer waits for a slot",
            "Transport": "implements Transport and TransportTask",
            "Trust": "loads the system's certificate authorities once",
        ],
        "Pacing": [:],
        "Pool": [
            "Curl": "a multi handle carries easy handles",
            "Pacing": "a connection that is busy without progress is throttled",
            "Queue": "an origin has its queue",
            "Transport": "connections are grouped by origin and partition",
            "Trust": "a connection knows what its server said to the client's authentication",
        ],
        "Queue": ["Transport": "a priority and a share order the queue"],
        "RawStreams": [
            "Curl": "a raw stream connects with an easy handle",
            "Engine": "the pool borrows the transport's trust and configuration",
            "Transport": "a raw stream has a URL and a partition",
            "Trust": "its connection is verified as others are",
        ],
        "Transport": ["Trust": "a partition names the certificate authorities"],
        "Trust": [:],
    ],
    "CarpoolRPC": [
        "Catalogue": [
            "Events": "the OpenRPC document describes events",
            "Messages": "a method lists its errors",
        ],
        "Events": [:],
        "Framing": ["Messages": "a frame is a MessageText, or an RPCError"],
        "Messages": [:],
        "Methods": [
            "Catalogue": "a method is a row of the catalogue",
            "Events": "the catalogue lists the events",
            "Messages": "a method lists its errors",
            "Parameters": "requests and sessions share parameters",
            "Schemas": "examples of records",
        ],
        "Parameters": ["Catalogue": "a parameter is read from Params"],
        "Schemas": [:],
    ],
    "CarpoolReachability": [
        "Change": ["Verdict": "a change is the difference of two snapshots"],
        "Kernel": ["Verdict": "what the kernel reports becomes values of the verdict"],
        "Manager": [
            "Change": "the manager publishes changes",
            "Kernel": "the manager reads the kernel",
            "Verdict": "the manager has the latest snapshot",
        ],
        "Verdict": [:],
    ],
    "CarpoolServer": serverRooms,
    "CarpoolSession": sessionRooms,
]

/// The rooms of a target that may use each other in a circle; other targets have no circle.
///
/// A request has an interceptor, a serializer, a monitor, a redirect handler and a session, and each of their protocols
/// has the request as its parameter, as in Alamofire. Rooms that only hold values or files do not belong here.
let roomsInCircles: [String: Set<String>] = [
    "CarpoolSession": [
        "Downloads", "Interceptors", "Monitors", "Redirects", "Request", "Responses", "Session", "Streams", "Uploads",
    ]
]

/// The number of files in the largest group whose files all need each other. It may only shrink.
let largestKnots = [
    "CarpoolCLI": 5, "CarpoolCache": 3, "CarpoolCaller": 0, "CarpoolCurl": 3, "CarpoolExchange": 0, "CarpoolHTTP": 4,
    "CarpoolRPC": 2,
    "CarpoolReachability": 2, "CarpoolServer": 3, "CarpoolSession": 12,
]
