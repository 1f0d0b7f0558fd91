{{- define "cutter.required" -}}
{{- range $name := list "CUTTER_DATABASE_URL" "CUTTER_TEMPORAL_ADDRESS" "CUTTER_KB_URL" "CUTTER_ARTIFACTS_URL" -}}
{{- if not (index $.Values.settings $name) -}}{{ fail (printf "settings.%s is missing" $name) }}{{- end -}}
{{- end -}}
{{- range $name := list "CUTTER_KB_URL" "CUTTER_ARTIFACTS_URL" -}}
{{- if hasPrefix "file:" (index $.Values.settings $name) -}}
{{- fail (printf "settings.%s: pods share no folder, so name an object store such as s3://bucket/path" $name) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^sha256:[0-9a-f]{64}$" $.Values.image.digest) -}}
{{- fail "image.digest: name the image by its digest, sha256:…" -}}
{{- end -}}
{{- end -}}

{{- define "cutter.image" -}}
{{ required "image.repository is missing" .Values.image.repository }}@{{ .Values.image.digest }}
{{- end -}}

{{- /* Arguments: root, process. */ -}}
{{- define "cutter.selector" -}}
app.kubernetes.io/name: cutter
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end -}}

{{- define "cutter.labels" -}}
{{ include "cutter.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- /* What a pod of any process has. Arguments: root, process. */ -}}
{{- define "cutter.pod" -}}
serviceAccountName: {{ .root.Release.Name }}-{{ .process }}
automountServiceAccountToken: false
# Otherwise each service would add variables CUTTER_…_SERVICE_HOST, and cutter refuses settings that it does not know.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "cutter.closed" -}}
image: {{ include "cutter.image" .root }}
imagePullPolicy: IfNotPresent
securityContext:
  allowPrivilegeEscalation: false
  privileged: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "cutter.env" -}}
{{- range $name, $value := merge (dict) .root.Values.settings .root.Values.environment -}}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{ end -}}
{{- end -}}

{{- /* `handed` is true for a worker. Its first container reads the secret and hands it over. */ -}}
{{- define "cutter.mounts" -}}
- {name: state, mountPath: /var/lib/cutter}
- {name: tmp, mountPath: /tmp}
{{- if not .handed }}
- {name: secrets, mountPath: /run/secrets/cutter, readOnly: true}
{{- end }}
{{- if .root.Values.tlsSecret }}
- {name: tls, mountPath: /etc/cutter/tls, readOnly: true}
{{- end }}
{{- end -}}

{{- /* Arguments: root, process, files (of the secret). */ -}}
{{- define "cutter.volumes" -}}
- {name: state, emptyDir: {}}
- {name: tmp, emptyDir: {medium: Memory, sizeLimit: 256Mi}}
- name: secrets
  secret:
    secretName: {{ .root.Release.Name }}-{{ .process }}
    defaultMode: 0440
    items:
{{- range .files }}
      - {key: {{ . }}, path: {{ . }}}
{{- end }}
{{- if .root.Values.tlsSecret }}
- {name: tls, secret: {secretName: {{ .root.Values.tlsSecret }}, defaultMode: 0440}}
{{- end }}
{{- end -}}

{{- /* The files of each process: passwords, keys and secrets. A worker gets them from its first container. */ -}}
{{- define "cutter.files" -}}
cutter: {passwords: [cutter_read.password, cutter_backup.password], keys: [backup.key, backup.fingerprint], key: backup}
exec: {passwords: [cutter_exec.password], keys: [executor.key], key: executor}
verify: {passwords: [cutter_verify.password], keys: [verifier.key, executor.asc], key: verifier}
setup: {passwords: [cutter_owner.password], keys: []}
notify: {passwords: {{ prepend .Values.notify.files "cutter_operator.password" | toJson }}, keys: []}
desk: {passwords: [cutter_desk.password], keys: []}
{{- end -}}

{{- define "cutter.processes" -}}
processes: [cutter, exec, verify, setup{{ if .Values.notify.enabled }}, notify{{ end }}{{ if .Values.desk.enabled }}, desk{{ end }}]
{{- end -}}
