internal import CarpoolSession

/// All limits of the daemon. `daemon.config` returns them, and the configuration file sets them under `limits`.
public struct Limits: Equatable, Sendable {
    /// A message from a client; a thread takes up to 0.7 s for the worst one of 1 MiB.
    public var messageBytes = 1_048_576
    /// Line length for a client that has not raised it; the default of asyncio's reader is 65,536.
    public var lineBytes = 65_535
    /// The encoded form of a body inside a record; the rest of the line is for the head and the metrics.
    public var inlineBodyBytes = 45_056
    /// Calls in flight on one connection.
    public var callsPerConnection = 256
    /// Open callbacks of one connection.
    public var callbacksPerConnection = 256
    /// Open callbacks of one client.
    public var callbacksPerClient = 2_500
    /// Open callbacks of one user.
    public var callbacksPerUser = 5_000
    /// Open callbacks of all users.
    public var callbacks = 10_000
    /// Unread descriptors on their way to one client.
    public var descriptorsPerConnection = 16
    /// Subscriptions on one connection.
    public var subscriptionsPerConnection = 32
    /// Subscriptions and watches of one client, of one user and of all.
    public var subscriptionsPerClient = 16_384
    /// Subscriptions and watches of one user.
    public var subscriptionsPerUser = 32_768
    /// Subscriptions and watches of all users.
    public var subscriptions = 65_536
    /// Connections of one client, of one user, and of all.
    public var connectionsPerClient = 960
    /// Connections of one user.
    public var connectionsPerUser = 1_024
    /// Connections of all users.
    public var connections = 2_048
    /// Unfinished requests of one client, of one user and of all.
    public var queuedRequestsPerClient = 10_000
    /// Unfinished requests of one user.
    public var queuedRequestsPerUser = 50_000
    /// Unfinished requests of all users.
    public var queuedRequests = 100_000
    /// Memory of the unfinished requests of one client: bodies, and the rest of their calls.
    public var requestBodyBytesPerClient = 268_435_456
    /// Memory of the unfinished requests of one user.
    public var requestBodyBytesPerUser = 536_870_912
    /// Memory of the unfinished requests of all users.
    public var requestBodyBytes = 1_073_741_824
    /// Sessions at a time that one client has created.
    public var sessionsPerClient = 500
    /// Sessions at a time that one user has created.
    public var sessionsPerUser = 1_000
    /// Sessions at a time that all users have created.
    public var sessions = 2_000
    /// Memory of the session configurations of one client.
    public var sessionBytesPerClient = 33_554_432
    /// Memory of the session configurations of one user.
    public var sessionBytesPerUser = 67_108_864
    /// Memory of all session configurations.
    public var sessionBytes = 134_217_728
    /// Certificates and revocation lists that one client uses.
    public var trustBytesPerClient = 16_777_216
    /// Certificates and revocation lists that one user uses.
    public var trustBytesPerUser = 33_554_432
    /// Certificates and revocation lists in use.
    public var trustBytes = 67_108_864
    /// Cookies of the sessions of one user, and those that running requests have received into their own jars.
    public var cookieBytesPerUser = 33_554_432
    /// Cookies of all users.
    public var cookieBytes = 67_108_864
    /// Tokens that the daemon has obtained for one user.
    public var tokenBytesPerUser = 1_048_576
    /// Tokens that the daemon has obtained.
    public var tokenBytes = 16_777_216
    /// Stored responses in memory, of all users.
    public var cacheMemoryBytes = 16_777_216
    /// Stored responses on disk, of all users.
    public var cacheDiskBytes = 1_073_741_824
    /// Sessions that the configuration file declares.
    public var declaredSessions = 1_000
    /// Bytes of the files that declared sessions name.
    public var declaredSessionFileBytes = 16_777_216
    /// Finished requests that are kept for `request.get`, of one user.
    public var retainedRequestsPerUser = 10_000
    /// Finished requests that are kept for `request.get`, of all users.
    public var retainedRequests = 20_000
    /// Memory of the finished requests that are kept for one user.
    public var retainedBytesPerUser = 268_435_456
    /// Memory of the finished requests that are kept for all users.
    public var retainedBytes = 536_870_912
    /// How long finished requests are kept.
    public var retentionMilliseconds = 86_400_000
    /// Unread output at which a client is no longer read from.
    public var unreadBytes = 4_194_304
    /// Unread output of all clients, at which those with much of it are not read from.
    public var totalUnreadBytes = 67_108_864
    /// Incomplete messages of all clients.
    public var totalInputBytes = 67_108_864
    /// Events that wait for a subscriber that does not read, before they are dropped.
    public var unreadEventBytes = 8_388_608
    /// The event journal, while there are subscribers.
    public var journalBytes = 67_108_864
    /// How long the journal is kept after the last subscriber has left.
    public var journalLingerMilliseconds = 600_000
    /// Time without events after which a subscription gets a bookmark.
    public var bookmarkMilliseconds = 15_000
    /// Connections to one host, of all clients and of one.
    public var hostConnections = 128
    /// Connections of one client to one host.
    public var hostConnectionsPerClient = 6
    /// Connections to one host for streams and downloads, of all clients.
    public var longHostConnections = 128
    /// Connections of one client to one host for streams and downloads.
    public var longHostConnectionsPerClient = 8
    /// Paused transfers, whose connections count in none of these limits.
    public var pausedTransfers = 1_024
    /// Partitions of one user with connections or requests.
    public var partitionsPerUser = 256
    /// Connections to all hosts.
    public var totalConnections = 256
    /// Streams on one HTTP/2 connection.
    public var streamsPerConnection = 100
    /// Raw streams of one connection.
    public var rawStreamsPerConnection = 32
    /// Raw streams of one client.
    public var rawStreamsPerClient = 96
    /// Raw streams of one user.
    public var rawStreamsPerUser = 192
    /// Raw streams of all users.
    public var rawStreams = 256
    /// Readers of streams that send on one connection.
    public var streamReadersPerConnection = 32
    /// Readers of streams of one client.
    public var streamReadersPerClient = 960
    /// Readers of streams of one user.
    public var streamReadersPerUser = 1_024
    /// Readers of streams of all users.
    public var streamReaders = 2_048
    /// Buffered bytes of one stream.
    public var streamBytes = 1_048_576
    /// Buffered bytes of all streams.
    public var totalStreamBytes = 67_108_864
    /// Bodies in the spool, of one client, of one user and of all.
    public var spoolBytesPerClient = 1_073_741_824
    /// Bodies in the spool, of one user.
    public var spoolBytesPerUser = 2_147_483_648
    /// Bodies in the spool, of all users.
    public var spoolBytes = 4_294_967_296
    /// Buffered bytes of one file that is written, before its transfer is paused.
    public var writeBytesPerFile = 1_048_576
    /// Buffered bytes of all files that are written.
    public var writeBytes = 67_108_864
    /// How long the body of a performed request stays in the spool unless it is released.
    public var spoolLeaseMilliseconds = 600_000
    /// The longest wait of one call.
    public var longPollMilliseconds = 60_000

    /// The defaults.
    public init() {}

    /// One limit as the configuration names it.
    struct Field: Sendable {
        let name: StaticString
        let path: any WritableKeyPath<Limits, Int> & Sendable
        let range: ClosedRange<Int>
        let reason: String
    }

    /// All limits with their names, ranges and reasons: the configuration is read, checked and written with this table.
    static let fields: [Field] = [
        Field(
            "message_bytes", \.messageBytes, 4_096...16_777_216,
            "a client's message; a thread reads a large one, for which its connection waits"),
        Field(
            "line_bytes", \.lineBytes, 4_096...8_388_608,
            "a line to a client; the readers of common libraries fail at 65,536"),
        Field(
            "inline_body_bytes", \.inlineBodyBytes, 0...1_048_576,
            "a body inside a record, encoded; larger ones go to a file"),
        Field("calls_per_connection", \.callsPerConnection, 1...65_536, "calls in flight on a connection"),
        Field(
            "callbacks_per_connection", \.callbacksPerConnection, 1...65_536,
            "callbacks on one connection that are not answered: a slow client must not collect them"),
        Field(
            "callbacks_per_client", \.callbacksPerClient, 1...1_000_000,
            "callbacks of a client's requests and sessions that are not answered: each holds a request and its body"),
        Field("callbacks_per_user", \.callbacksPerUser, 1...1_000_000, "callbacks of a user that are not answered"),
        Field("callbacks", \.callbacks, 1...1_000_000, "callbacks of all users that are not answered"),
        Field(
            "descriptors_per_connection", \.descriptorsPerConnection, 1...250,
            "descriptors that a client has not read: each is an open file of the daemon"),
        Field("subscriptions_per_connection", \.subscriptionsPerConnection, 1...256, "subscriptions on a connection"),
        Field(
            "subscriptions_per_client", \.subscriptionsPerClient, 1...1_000_000,
            "subscriptions and watches of a client: its connections filter the events for each"),
        Field("subscriptions_per_user", \.subscriptionsPerUser, 1...1_000_000, "subscriptions and watches of a user"),
        Field("subscriptions", \.subscriptions, 1...1_000_000, "subscriptions and watches of all users"),
        Field(
            "connections_per_client", \.connectionsPerClient, 1...100_000,
            "connections of one client: fewer than its user's, so that other programs can connect"),
        Field(
            "connections_per_user", \.connectionsPerUser, 1...100_000,
            "connections of one user: one program must not lock out the rest"),
        Field("connections", \.connections, 1...100_000, "connections of all users: each costs a descriptor"),
        Field(
            "queued_requests_per_client", \.queuedRequestsPerClient, 1...1_000_000,
            "unfinished requests of one client"),
        Field(
            "queued_requests_per_user", \.queuedRequestsPerUser, 1...1_000_000,
            "unfinished requests of one user, under all client names"),
        Field(
            "queued_requests", \.queuedRequests, 1...1_000_000,
            "unfinished requests of all users: each costs some KiB"),
        Field(
            "request_body_bytes_per_client", \.requestBodyBytesPerClient, 1_048_576...1_099_511_627_776,
            "memory of one client's unfinished requests: their calls, mainly bodies, and 1 MiB for each body that is sent in pieces"
        ),
        Field(
            "request_body_bytes_per_user", \.requestBodyBytesPerUser, 1_048_576...1_099_511_627_776,
            "memory of one user's unfinished requests, under all client names"),
        Field(
            "request_body_bytes", \.requestBodyBytes, 1_048_576...1_099_511_627_776,
            "memory of the unfinished requests of all users: the daemon must not grow with queued requests"),
        Field("sessions_per_client", \.sessionsPerClient, 1...100_000, "sessions that one client has created"),
        Field(
            "sessions_per_user", \.sessionsPerUser, 1...100_000,
            "sessions that one user has created: they live until they are invalidated"),
        Field("sessions", \.sessions, 1...100_000, "sessions that all users have created"),
        Field(
            "session_bytes_per_client", \.sessionBytesPerClient, 65_536...17_179_869_184,
            "memory of the configurations of sessions that one client has created"),
        Field(
            "session_bytes_per_user", \.sessionBytesPerUser, 65_536...17_179_869_184,
            "memory of the configurations of sessions that one user has created"),
        Field(
            "session_bytes", \.sessionBytes, 65_536...17_179_869_184,
            "memory of the configurations of all sessions"),
        Field(
            "trust_bytes_per_client", \.trustBytesPerClient, 1_048_576...17_179_869_184,
            "certificates and revocation lists in sessions and requests of one client: parsed, they take several times that"
        ),
        Field(
            "trust_bytes_per_user", \.trustBytesPerUser, 1_048_576...17_179_869_184,
            "certificates and revocation lists of one user, the same content once"),
        Field(
            "trust_bytes", \.trustBytes, 1_048_576...17_179_869_184,
            "certificates and revocation lists of all users"),
        Field(
            "cookie_bytes_per_user", \.cookieBytesPerUser, 65_536...17_179_869_184,
            "cookies of one user's sessions; beyond it the cookies that were not used for the longest time are removed"),
        Field("cookie_bytes", \.cookieBytes, 65_536...17_179_869_184, "cookies of all users, likewise"),
        Field(
            "token_bytes_per_user", \.tokenBytesPerUser, 65_536...17_179_869_184,
            "tokens that the daemon obtains for one user; beyond it those that were not used for the longest time are removed"
        ),
        Field("token_bytes", \.tokenBytes, 65_536...17_179_869_184, "tokens of all users, likewise"),
        Field(
            "cache_memory_bytes", \.cacheMemoryBytes, 0...17_179_869_184,
            "stored responses in memory, divided among users; a response takes at most a sixteenth of it"),
        Field(
            "cache_disk_bytes", \.cacheDiskBytes, 0...1_099_511_627_776,
            "stored responses on disk, of all stores of all users"),
        Field(
            "declared_sessions", \.declaredSessions, 0...10_000,
            "sessions that the configuration file declares: all are read at each reload"),
        Field(
            "declared_session_file_bytes", \.declaredSessionFileBytes, 0...268_435_456,
            "the files that declared sessions name, each path once: they are read and parsed at each reload"),
        Field(
            "retained_requests_per_user", \.retainedRequestsPerUser, 0...1_000_000,
            "finished requests of one user that are kept for request.get"),
        Field(
            "retained_requests", \.retainedRequests, 0...1_000_000,
            "finished requests of all users that are kept for request.get: above it the user with the most loses some"),
        Field(
            "retained_bytes_per_user", \.retainedBytesPerUser, 1_048_576...1_099_511_627_776,
            "memory of one user's finished requests: heads, values and bodies that are not in files"),
        Field(
            "retained_bytes", \.retainedBytes, 1_048_576...1_099_511_627_776,
            "memory of the finished requests of all users: above it the user with the most loses some"),
        Field("retention_ms", \.retentionMilliseconds, 0...2_592_000_000, "how long finished requests are kept"),
        Field(
            "unread_bytes", \.unreadBytes, 65_536...268_435_456,
            "unread answers at which a client is no longer read from"),
        Field(
            "total_unread_bytes", \.totalUnreadBytes, 1_048_576...17_179_869_184,
            "unread answers of all clients: above it clients with more than 64 KiB of them are not read from"),
        Field(
            "total_input_bytes", \.totalInputBytes, 1_048_576...17_179_869_184,
            "incomplete messages of all clients: above it the oldest one is discarded"),
        Field(
            "unread_event_bytes", \.unreadEventBytes, 4_096...268_435_456,
            "events that wait for one subscription: a client that does not read gets the latest ones"),
        Field(
            "journal_bytes", \.journalBytes, 65_536...1_073_741_824,
            "the journal of events: for clients that reconnect"),
        Field(
            "journal_linger_ms", \.journalLingerMilliseconds, 0...86_400_000,
            "how long the journal is kept without subscribers: for clients that reconnect"),
        Field(
            "bookmark_ms", \.bookmarkMilliseconds, 10...3_600_000,
            "how often a subscription without events gets a bookmark"),
        Field(
            "host_connections", \.hostConnections, 1...256,
            "HTTP/1.1 connections to one host, all clients together"),
        Field(
            "host_connections_per_client", \.hostConnectionsPerClient, 1...256,
            "HTTP/1.1 connections of one client to one host: its slow answers must not block another client"),
        Field(
            "long_host_connections", \.longHostConnections, 1...256,
            "connections to one host for streams and downloads, beside the others: they take long"),
        Field(
            "long_host_connections_per_client", \.longHostConnectionsPerClient, 1...256,
            "connections of one client to one host for streams and downloads: they must not block those of another"),
        Field(
            "paused_transfers", \.pausedTransfers, 0...100_000,
            "paused transfers whose connections count in no limit, so that other transfers do not wait for them"),
        Field(
            "partitions_per_user", \.partitionsPerUser, 1...65_536,
            "different settings of connections of one user that are in use: each has pools of its own"),
        Field(
            "total_connections", \.totalConnections, 1...4_096,
            "connections to all hosts: each costs a descriptor and its buffers"),
        Field("streams_per_connection", \.streamsPerConnection, 1...1_000, "streams on an HTTP/2 connection"),
        Field(
            "raw_streams_per_connection", \.rawStreamsPerConnection, 0...4_096,
            "raw streams of a connection: each holds up to 512 KiB"),
        Field("raw_streams_per_client", \.rawStreamsPerClient, 0...65_536, "raw streams of one client"),
        Field("raw_streams_per_user", \.rawStreamsPerUser, 0...65_536, "raw streams of one user"),
        Field(
            "raw_streams", \.rawStreams, 0...65_536,
            "raw streams of all users: each costs a descriptor and up to 512 KiB"),
        Field(
            "stream_readers_per_connection", \.streamReadersPerConnection, 1...1_024,
            "readers of streams (request.attach) of a connection"),
        Field(
            "stream_readers_per_client", \.streamReadersPerClient, 1...100_000,
            "readers of streams of one client: fewer than its user's"),
        Field("stream_readers_per_user", \.streamReadersPerUser, 1...100_000, "readers of streams of one user"),
        Field(
            "stream_readers", \.streamReaders, 1...100_000,
            "readers of streams of all users: every piece of a stream is written once for each of its readers"),
        Field(
            "stream_bytes", \.streamBytes, 65_536...268_435_456,
            "buffered bytes of a stream for its slowest reader; above it its transfer is paused"),
        Field(
            "total_stream_bytes", \.totalStreamBytes, 65_536...17_179_869_184,
            "buffered bytes of all streams; above it each gets small pieces"),
        Field(
            "spool_bytes_per_client", \.spoolBytesPerClient, 0...1_099_511_627_776, "bodies in the spool, of one client"
        ),
        Field(
            "spool_bytes_per_user", \.spoolBytesPerUser, 0...1_099_511_627_776,
            "bodies in the spool, of one user, under all client names"),
        Field(
            "spool_bytes", \.spoolBytes, 0...1_099_511_627_776,
            "bodies in the spool, of all users: they use the user's disk"),
        Field(
            "write_bytes_per_file", \.writeBytesPerFile, 65_536...268_435_456,
            "bytes of a body that are not written yet; above it its transfer is paused"),
        Field(
            "write_bytes", \.writeBytes, 65_536...17_179_869_184,
            "bytes of all bodies that are not written yet; above it each moves in steps of 16 KiB"),
        Field(
            "spool_lease_ms", \.spoolLeaseMilliseconds, 1_000...86_400_000,
            "how long the body of a performed request stays in the spool unless it is released"
        ),
        Field("long_poll_ms", \.longPollMilliseconds, 1_000...600_000, "the longest wait of one call"),
    ]
}

extension Limits.Field {
    init(
        _ name: StaticString, _ path: any WritableKeyPath<Limits, Int> & Sendable, _ range: ClosedRange<Int>,
        _ reason: String
    ) {
        self.init(name: name, path: path, range: range, reason: reason)
    }
}

extension WriteMemory {
    /// The memory that a configuration permits for files that are written.
    convenience init(_ limits: Limits) {
        self.init(fileBytes: limits.writeBytesPerFile, totalBytes: limits.writeBytes)
    }
}
