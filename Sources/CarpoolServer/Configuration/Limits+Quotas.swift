// The limits that clients share, each with its three bounds: of a client, of a user, of all users together.
extension Limits {
    var queuedRequestBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("queued_requests_per_client", queuedRequestsPerClient),
            user: ("queued_requests_per_user", queuedRequestsPerUser), all: ("queued_requests", queuedRequests))
    }

    var requestBodyBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("request_body_bytes_per_client", requestBodyBytesPerClient),
            user: ("request_body_bytes_per_user", requestBodyBytesPerUser),
            all: ("request_body_bytes", requestBodyBytes))
    }

    var spoolBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("spool_bytes_per_client", spoolBytesPerClient), user: ("spool_bytes_per_user", spoolBytesPerUser),
            all: ("spool_bytes", spoolBytes))
    }

    var sessionBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("sessions_per_client", sessionsPerClient), user: ("sessions_per_user", sessionsPerUser),
            all: ("sessions", sessions))
    }

    var sessionByteBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("session_bytes_per_client", sessionBytesPerClient),
            user: ("session_bytes_per_user", sessionBytesPerUser), all: ("session_bytes", sessionBytes))
    }

    var trustBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("trust_bytes_per_client", trustBytesPerClient), user: ("trust_bytes_per_user", trustBytesPerUser),
            all: ("trust_bytes", trustBytes))
    }

    /// A jar belongs to its user, and to no client.
    var cookieBounds: Quota.Bounds {
        let ofUser: (name: StaticString, value: Int) = ("cookie_bytes_per_user", cookieBytesPerUser)
        return Quota.Bounds(client: ofUser, user: ofUser, all: ("cookie_bytes", cookieBytes))
    }

    /// A token belongs to its user, and to no client.
    var tokenBounds: Quota.Bounds {
        let ofUser: (name: StaticString, value: Int) = ("token_bytes_per_user", tokenBytesPerUser)
        return Quota.Bounds(client: ofUser, user: ofUser, all: ("token_bytes", tokenBytes))
    }

    var retainedBounds: RetentionBounds {
        RetentionBounds(
            requests: retainedRequests, requestsOfUser: retainedRequestsPerUser, bytes: retainedBytes,
            bytesOfUser: retainedBytesPerUser)
    }

    var subscriptionBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("subscriptions_per_client", subscriptionsPerClient),
            user: ("subscriptions_per_user", subscriptionsPerUser), all: ("subscriptions", subscriptions))
    }

    var callbackBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("callbacks_per_client", callbacksPerClient), user: ("callbacks_per_user", callbacksPerUser),
            all: ("callbacks", callbacks))
    }

    var rawStreamBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("raw_streams_per_client", rawStreamsPerClient), user: ("raw_streams_per_user", rawStreamsPerUser),
            all: ("raw_streams", rawStreams))
    }

    var streamReaderBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("stream_readers_per_client", streamReadersPerClient),
            user: ("stream_readers_per_user", streamReadersPerUser), all: ("stream_readers", streamReaders))
    }

    var connectionBounds: Quota.Bounds {
        Quota.Bounds(
            client: ("connections_per_client", connectionsPerClient),
            user: ("connections_per_user", connectionsPerUser),
            all: ("connections", connections))
    }
}

/// The most finished requests that may be kept.
struct RetentionBounds {
    var requests: Int
    var requestsOfUser: Int
    var bytes: Int
    var bytesOfUser: Int
}
